"""What a plan of a study rests on: every setting once, for `snellen study plan` and its settings files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from snellen.errors import UserError, option
from snellen.request import Request, setting


@dataclass(frozen=True, kw_only=True)
class StudyPlanRequest(Request):
    """The settings of a plan: a difference to show, and a pilot or what is assumed in its place."""

    gap: float | None = setting(
        "people less model, in accuracy, that the study must show", at_least=0.001, at_most=0.999
    )
    kappa_difference: float | None = setting(
        "or a distance of error consistency from another value, such as 0", at_least=0.001, at_most=0.999
    )
    pilot: Path | None = setting("answers of a pilot: the export of a study", metavar="FILE")
    model: Path | None = setting("answers of a model to the images of the pilot: columns sample, pred", metavar="FILE")
    people: float = setting("accuracy of people, without a pilot", 0.9, at_least=0.001, at_most=0.999)
    accuracy: float | None = setting(
        "accuracy of the model, without a pilot; default that of people less the gap", at_least=0.001, at_most=0.999
    )
    kappa: float = setting("error consistency of people and model, without a pilot", 0.1, at_least=-1, at_most=1)
    consistency: float = setting(
        "error consistency of people with each other, without a pilot", 0.3, at_least=0, at_most=1
    )
    spread: float = setting("standard deviation of people's accuracies, without a pilot", 0.04, at_least=0, at_most=0.5)
    images: tuple[int, ...] = setting(
        "numbers of images to plan with, separated by commas",
        (50, 100, 200, 400, 800),
        commas=True,
        at_least=2,
        at_most=10**6,
    )
    each: int | None = setting("images that one person answers; default all", at_least=1, at_most=10**6)
    power: float = setting("chance of showing the difference", 0.8, at_least=0.01, at_most=0.99)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.gap is None) == (self.kappa_difference is None):
            raise UserError(f"expected one of {option('gap')} and {option('kappa_difference')}")
        if (self.pilot is None) != (self.model is None):
            raise UserError(
                f"a pilot needs {option('pilot')}, its people's answers, and {option('model')}, a model's answers"
            )
