"""How many people and images show that people and a model differ: power from a few assumptions, or from a pilot.

The variance of a mean over answers has three parts: images differ, people differ, and each answer has its luck. More people
lessen the last two, more images the first and the last. All three follow from numbers that a pilot or an earlier study states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from snellen.measure.error_kappa import PEOPLE, error_consistencies
from snellen.measure.human import model_scores
from snellen.measure.responses import ResponseColumns, Responses, read_responses

Effect = Literal["gap", "kappa"]
IMAGES = (50, 100, 200, 400, 800, 1600)
MOST_PEOPLE = 10_000
_NORMAL, _Z = NormalDist(), 1.959963984540054


@dataclass(frozen=True)
class StudyAssumptions:
    """What a study is expected to find: the accuracy of `people` and of the `model`, how consistent their errors are (`kappa`).

    `consistency` is the error consistency of people with each other, and `spread` the standard deviation of their accuracies.
    """

    people: float
    model: float
    kappa: float = 0.1
    consistency: float = 0.3
    spread: float = 0.04

    def __post_init__(self) -> None:
        for name in ("people", "model"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"expected the accuracy of the {name} between 0 and 1, got {getattr(self, name):g}")
        if not 0 <= self.consistency <= 1:
            raise ValueError(f"expected a consistency of people from 0 to 1, got {self.consistency:g}")
        p, q = self.people, self.model
        lowest, highest = ((end - self._expected) / (1 - self._expected) for end in (abs(p + q - 1), 1 - abs(p - q)))
        if not lowest - 1e-9 <= self.kappa <= highest + 1e-9:
            raise ValueError(
                f"accuracies of {p:g} and {q:g} allow a kappa from {lowest:.2f} to {highest:.2f}, got {self.kappa:g}"
            )
        most = sqrt(p * (1 - p) * (1 - self.consistency))
        if not 0 <= self.spread <= most:
            raise ValueError(
                f"expected a spread from 0 to {most:.2f} with this accuracy and consistency, got {self.spread:g}"
            )

    @property
    def _expected(self) -> float:
        return self.people * self.model + (1 - self.people) * (1 - self.model)

    @property
    def covariance(self) -> float:
        """That of a right answer of a person and of the model to one image."""
        return self.kappa * (1 - self._expected) / 2


@dataclass(frozen=True)
class StudyOption:
    """`people` who answer `each` of `images` reach this `power`; no number of people reaches it where `people` is 0."""

    images: int
    each: int
    people: int
    power: float

    @property
    def answers(self) -> int:
        """Answers in all."""
        return self.people * self.each


@dataclass(frozen=True)
class StudyPlan:
    """For each number of images the fewest people who show the `difference`, with the wanted power."""

    assumptions: StudyAssumptions
    effect: Effect
    difference: float
    wanted: float
    options: tuple[StudyOption, ...]


def pilot_assumptions(responses: ResponseColumns, model: Mapping[Any, float]) -> StudyAssumptions:
    """The assumptions that a pilot gives: `responses` and `model` as in `human_gap`. At least two people share images.

    >>> from snellen.measure import SimulatedPeople, pilot_assumptions
    >>> people = SimulatedPeople(seed=0).people(4)
    >>> responses = {"observer": [], "sample": [], "label": [], "answer": [], "level": []}
    >>> for person in people:
    ...     for sample in range(20):
    ...         answer = person.answer(sample, "cat", ("cat", "dog"))
    ...         for column, value in zip(responses, (person.number, sample, "cat", answer, 0)):
    ...             responses[column].append(value)
    ...
    >>> pilot_assumptions(responses, {sample: sample % 2 for sample in range(20)}).model
    0.5
    """
    table = read_responses(responses, ())
    scores = model_scores(model, table)
    found = error_consistencies(responses, {"model": model}, repeats=0)
    between, across = found[PEOPLE, PEOPLE], found[PEOPLE, "model"]
    if between.reason or across.reason:
        raise ValueError(
            f"a pilot needs two people and a model that err on some of the same images: {between.reason or across.reason}"
        )
    of_images, of_people, squared = _products(table)
    share = float(table.right.sum() / table.seen.sum())
    alone = share * (1 - share)
    consistency = min(max((of_images - squared) / alone, 0.0), 1.0)
    spread = sqrt(min(max(of_people - squared, 0.0), alone * (1 - consistency)))
    weights = table.seen.sum(0)
    return StudyAssumptions(share, float((scores * weights).sum() / weights.sum()), across.value, consistency, spread)


def study_power(
    assumptions: StudyAssumptions,
    difference: float,
    people: int,
    images: int,
    each: int | None = None,
    effect: Effect = "gap",
) -> float:
    """The chance that the 95% interval shows the difference, when each of `people` answers `each` (or all) of `images`.

    A `gap` is people less model, against none, by the interval of `human_gap`; its size is the difference, whatever the
    accuracy of the model that was assumed. Of `kappa` it is the distance from another value, by that of `error_consistency`.

    >>> from snellen.measure import StudyAssumptions, study_power
    >>> assumptions = StudyAssumptions(people=0.9, model=0.7)
    >>> few, many = (study_power(assumptions, 0.1, people=5, images=images) for images in (20, 400))
    >>> few < many
    True
    """
    if not 0 < abs(difference) < 1:
        raise ValueError(f"expected a difference between 0 and 1, got {difference:g}")
    of_images, of_people, of_luck = _variances(assumptions, difference, effect)
    answers = people * min(each or images, images)
    if not answers:
        return nan
    luck = of_luck / answers
    error = stated = sqrt(of_images / images + of_people / people + luck)
    if effect == "gap":  # its bootstrap draws images, people and both, each with the luck of all answers (Owen 2007)
        rows, columns = 1 - 1 / people, 1 - 1 / images
        stated = sqrt(
            columns * (of_images / images + luck) + rows * (of_people / people + luck) + rows * columns * luck
        )
    return _NORMAL.cdf((abs(difference) - _Z * stated) / error) + _NORMAL.cdf((-abs(difference) - _Z * stated) / error)


def plan_study(
    assumptions: StudyAssumptions,
    difference: float,
    effect: Effect = "gap",
    *,
    power: float = 0.8,
    images: Sequence[int] = IMAGES,
    each: int | None = None,
) -> StudyPlan:
    """The fewest people for each number of `images` who show the `difference`; each person answers `each` of them, or all.

    >>> from snellen.measure import StudyAssumptions, plan_study
    >>> plan = plan_study(StudyAssumptions(people=0.9, model=0.7), 0.1, images=(400,))
    >>> plan.options[0].people, plan.options[0].power >= 0.8
    (2, True)
    """
    if not 0 < power < 1:
        raise ValueError(f"expected a power between 0 and 1, got {power:g}")
    options = tuple(
        _fewest(assumptions, difference, effect, power, number, min(each or number, number)) for number in images
    )
    return StudyPlan(assumptions, effect, difference, power, options)


def _fewest(
    assumptions: StudyAssumptions, difference: float, effect: Effect, wanted: float, images: int, each: int
) -> StudyOption:
    def reached(people: int) -> float:
        return study_power(assumptions, difference, people, images, each, effect)

    if reached(MOST_PEOPLE) < wanted:
        return StudyOption(images, each, 0, reached(MOST_PEOPLE))
    low, high = 1, MOST_PEOPLE
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= wanted else (middle + 1, high)
    people = max(low, 2)  # one person shows no spread
    return StudyOption(images, each, people, reached(people))


def _variances(assumptions: StudyAssumptions, difference: float, effect: Effect) -> tuple[float, float, float]:
    """The variance of one image, of one person and of one answer's luck, in the value that is measured."""
    p = assumptions.people
    alone, person = p * (1 - p), assumptions.spread**2
    shared = assumptions.consistency * alone
    luck = max(alone - shared - person, 0.0)
    if effect == "gap":
        q = min(max(p - difference, 1e-9), 1 - 1e-9)
        scale = sqrt(
            q * (1 - q) / (assumptions.model * (1 - assumptions.model))
        )  # the same correlation at another accuracy
        return max(shared + q * (1 - q) - 2 * assumptions.covariance * scale, 0.0), person, luck
    q, expected, kappa = assumptions.model, assumptions._expected, assumptions.kappa
    both = p * q + assumptions.covariance
    whole, mine = 0.0, 0.0
    for right, chance in ((1, q), (0, 1 - q)):  # of the model
        given = (both if right else p - both) / chance  # people's accuracy there
        effects = [_influence(answer, right, p, q, expected, kappa) for answer in (0, 1)]
        whole += chance * (given * effects[1] ** 2 + (1 - given) * effects[0] ** 2)
        mine += chance * (effects[1] - effects[0]) ** 2 * given * (1 - given)
    # who is better agrees more and is expected to: people's own accuracies are taken to leave kappa as it is
    luck = mine * (1 - assumptions.consistency)
    return max(whole - luck, 0.0), 0.0, luck


def _influence(answer: int, right: int, p: float, q: float, expected: float, kappa: float) -> float:
    """By how much one image, with this answer of a person and of the model, moves kappa."""
    observed = expected + kappa * (1 - expected)
    moved = (answer - p) * (2 * q - 1) + (right - q) * (2 * p - 1)
    return (float(answer == right) - observed - moved * (1 - kappa)) / (1 - expected)


def _products(table: Responses) -> tuple[float, float, float]:
    """The mean product of two right answers: to one image by two people, by one person to two images, of neither in common."""
    right, seen = table.right, table.seen

    def pairs(values: Any) -> tuple[float, float, float]:
        total, by_image, by_person = values.sum(), np.square(values.sum(0)).sum(), np.square(values.sum(1)).sum()
        own = np.square(values).sum()
        return by_image - own, by_person - own, total**2 - by_image - by_person + own

    images, people, apart = (part / whole if whole else nan for part, whole in zip(pairs(right), pairs(seen)))
    return float(images), float(people), float(apart)
