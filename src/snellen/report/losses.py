"""What a modification costs a model: accuracies held against the clean one, corrected for how many were tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist

from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.words import is_known

LEVEL = 0.05  # the chance that any of a model's losses is called clear though nothing is lost
UNMODIFIED = ("accuracy", "unoccluded_accuracy")  # findings of images as they are
SAME_IMAGES = 0.95  # share of the images behind the clean accuracy that must be behind the other one too


@dataclass(frozen=True)
class Loss:
    """What a model loses under one modification, in shares of all images: `value`, and the bounds `low` to `high` that hold for
    all its losses together."""

    finding: AnyFinding
    clean: AnyFinding
    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether something is lost, by the bounds."""
        return self.low > 0


def losses(results: Results, model: str) -> list[Loss]:
    """The losses of one model, one for each modification whose accuracy its section declares and that has an interval."""
    pairs: list[tuple[AnyFinding, AnyFinding]] = []
    questions: set[tuple[str, ...]] = set()
    for finding in results.of_model(model):
        declares = SECTIONS[finding.audit].losses if finding.audit in SECTIONS else None
        question = (finding.on, *finding.distortions) if finding.distortions else (finding.audit, finding.label)
        if declares is None or not declares(finding) or finding.on == "train" or question in questions:
            continue
        clean = _reference(results, finding)
        if clean is not None and _has_interval(finding) and finding.n >= SAME_IMAGES * clean.n:
            questions.add(question)
            pairs.append((finding, clean))
    return [loss_of(finding, clean, len(pairs)) for finding, clean in pairs]


def loss_of(finding: AnyFinding, clean: AnyFinding, tests: int = 1) -> Loss:
    """The loss of one of several modifications, from the intervals of both accuracies (Zou & Donner 2008, MOVER).

    Both are widened to the level that Bonferroni's correction over `tests` asks for, and taken as independent. Answers to one
    image agree more often than that, so the bounds are wider than they need be and hold at least as often as they say.
    """
    wider = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, tests)) / NormalDist().inv_cdf(1 - LEVEL / 2)
    value, low, high = _numbers(finding)
    whole, least, most = _numbers(clean)
    lost = whole - value
    return Loss(
        finding,
        clean,
        lost,
        lost - wider * hypot(whole - least, high - value),
        lost + wider * hypot(most - whole, value - low),
    )


def _reference(results: Results, finding: AnyFinding) -> AnyFinding | None:
    """The accuracy on the same images, not modified: that of the same audit where it has one, else the clean accuracy."""
    own = (other for other in results.of_model(finding.model) if other.audit == finding.audit)
    unmodified = next((other for other in own if other.name in UNMODIFIED), None)
    clean = unmodified or results.clean(finding.model, finding.on) or results.clean(finding.model)
    return clean if clean is not None and _has_interval(clean) else None


def _has_interval(finding: AnyFinding) -> bool:
    return all(map(is_known, (finding.value, finding.low, finding.high)))


def _numbers(finding: AnyFinding) -> tuple[float, float, float]:
    assert finding.value is not None
    assert finding.low is not None
    assert finding.high is not None
    return finding.value, finding.low, finding.high


def strongest(every: Sequence[Loss]) -> Loss | None:
    """The clear loss that is largest at the cautious end of its bounds."""
    clear = [loss for loss in every if loss.is_clear]
    return max(clear, key=lambda loss: loss.low, default=None)
