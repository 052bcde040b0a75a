"""Does a planned study show what it was planned for? Simulated studies, and how often their interval shows the difference.

The plan's power, from what is true of the law of answers and from pilots of 12 people and 400 images, is held against that of so
many studies by `human_gap` (zero is outside) and `error_consistency` (the other value is outside).

    python benchmarks/study_power.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from snellen.measure import StudyAssumptions, error_consistency, human_gap, pilot_assumptions, study_power

Table = dict[str, list[object]]


@dataclass(frozen=True)
class Case:
    """`people` of this accuracy answer `each` of `images`; a model has the accuracy `model` and depends on ease as people do."""

    effect: str
    accuracy: float
    model: float
    people: int
    images: int
    each: int
    difference: float
    ability: float = 0.3


CASES = (
    Case("gap", 0.85, 0.75, 10, 200, 200, 0.10),
    Case("gap", 0.85, 0.80, 20, 552, 200, 0.05),
    Case("gap", 0.70, 0.60, 8, 150, 100, 0.10),
    Case("gap", 0.90, 0.85, 15, 300, 150, 0.05, ability=0.5),
    Case("kappa", 0.80, 0.70, 10, 150, 150, 0.10),
    Case("kappa", 0.80, 0.70, 20, 300, 100, 0.08),
)
DIFFICULTY = 0.8
PILOTS = 10


def answers(
    case: Case, random: np.random.Generator, people: int, images: int, each: int
) -> tuple[np.ndarray, np.ndarray]:
    """Right or wrong of people [people, images], nan where one was not asked, and of the model [images]."""
    normal, ease = NormalDist(), DIFFICULTY * random.normal(size=images)
    bound = -normal.inv_cdf(case.accuracy) * (1 + case.ability**2 + DIFFICULTY**2) ** 0.5
    skill = case.ability * random.normal(size=(people, 1))
    right = (skill + ease + random.normal(size=(people, images)) > bound).astype(float)
    for row in right:
        row[random.permutation(images)[each:]] = np.nan
    least = -normal.inv_cdf(case.model) * (1 + DIFFICULTY**2) ** 0.5
    return right, (ease + random.normal(size=images) > least).astype(float)


def columns(right: np.ndarray) -> Table:
    who, what = np.nonzero(~np.isnan(right))
    said = right[who, what].astype(int).tolist()
    return {"observer": who.tolist(), "sample": what.tolist(), "label": [1] * len(said), "answer": said}


def shown(case: Case, random: np.random.Generator, truth: float, seed: int) -> bool:
    right, model = answers(case, random, case.people, case.images, case.each)
    if case.effect == "gap":
        found = human_gap(columns(right), dict(enumerate(model)), (), repeats=400, seed=seed)[()]
        return found.low > 0 or found.high < 0
    kappa = error_consistency(right, model, repeats=400, seed=seed)
    return kappa.low > truth - case.difference


def true_assumptions(case: Case) -> StudyAssumptions:
    """What the law of answers makes true, by a million images and people."""
    from scipy.special import ndtr, ndtri

    random = np.random.default_rng(0)
    ease, skill = DIFFICULTY * random.normal(size=10**6), case.ability * random.normal(size=10**6)
    bound = ndtri(case.accuracy) * (1 + case.ability**2 + DIFFICULTY**2) ** 0.5
    known = ndtr((ease + bound) / (1 + case.ability**2) ** 0.5)  # people's accuracy on an image
    own = ndtr(ease + ndtri(case.model) * (1 + DIFFICULTY**2) ** 0.5)
    of_person = ndtr((skill + bound) / (1 + DIFFICULTY**2) ** 0.5)
    p, q = case.accuracy, case.model
    kappa = 2 * np.cov(known, own)[0, 1] / (p + q - 2 * p * q)
    return StudyAssumptions(p, q, float(kappa), float(known.var() / (p * (1 - p))), float(of_person.std()))


def assumed(case: Case, seed: Sequence[int], people: int = 12, images: int = 400) -> StudyAssumptions:
    right, model = answers(case, np.random.default_rng([*seed, 77]), people, images, images)
    return pilot_assumptions(columns(right), dict(enumerate(model)))


def row(case: Case, studies: int, seed: int) -> str:
    truth = true_assumptions(case)
    plan, *pilots = (
        study_power(known, case.difference, case.people, case.images, case.each, case.effect)  # type: ignore[arg-type]
        for known in (truth, *(assumed(case, [seed, turn]) for turn in range(PILOTS)))
    )
    random = np.random.default_rng([seed, 5])
    power = float(np.mean([shown(case, random, truth.kappa, seed + turn) for turn in range(studies)]))
    error = (power * (1 - power) / studies) ** 0.5
    size = f"{case.people} × {case.each} of {case.images}"
    return (
        f"| {case.effect} of {case.difference:g}, accuracies {case.accuracy:g} and {case.model:g} | {size} | "
        f"{plan:.0%} | {np.mean(pilots):.0%} ± {np.std(pilots, ddof=1):.0%} | {power:.0%} ± {error:.0%} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    print(
        "| difference | people × images | planned from the truth | from ten pilots | achieved |\n|---|---|---|---|---|"
    )
    for case in CASES:
        print(row(case, chosen.studies, chosen.seed), flush=True)


if __name__ == "__main__":
    main()
