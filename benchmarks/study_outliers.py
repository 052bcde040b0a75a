"""Does Tukey's rule find bad participants? Simulated studies of 20 people, two of them bad, 200 of 552 images each.

Each study draws its people, images and who sees what; the bad guess or always give one answer, in turn. Counted are studies in
which all bad ones are removed (low side, normalised accuracy), and good ones that are removed with them.

    python benchmarks/study_outliers.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.measure import IRUO_CLASSES, SimulatedPeople, human_accuracy
from snellen.measure.simulated_people import LEVELS

PER_CLASS_AND_LEVEL = 8
EACH = 200


@dataclass(frozen=True)
class Case:
    """People of one law: how far they differ, how many they are, and how many of them are bad."""

    words: str
    ability: float = 0.3
    people: int = 20
    bad: int = 2
    accuracy: float = 0.0  # of every level; 0 for those of the law


CASES = (
    Case("as published: 20 people, two bad"),
    Case("none is bad", bad=0),
    Case("people who are alike", ability=0.0),
    Case("people who differ twice as much", ability=0.6),
    Case("a hard task, accuracy 0.6", accuracy=0.6),
    Case("four of 20 bad", bad=4),
    Case("five of 20 bad", bad=5),
    Case("8 people, two bad", people=8),
)


def study(case: Case, seed: int) -> tuple[int, int]:
    """How many bad people were removed, and how many good ones."""
    law = SimulatedPeople(case.accuracy or dict(LEVELS), ability=case.ability, seed=seed)
    people = law.people(case.people, case.bad)
    images = [
        (f"{name}_o{level}_n{number}", name, level)
        for name in IRUO_CLASSES
        for level in range(3)
        for number in range(PER_CLASS_AND_LEVEL)
    ]
    random = np.random.default_rng(seed)
    columns: dict[str, list[object]] = {name: [] for name in ("observer", "sample", "label", "level", "answer")}
    for person in people:
        for place in random.permutation(len(images))[:EACH].tolist():
            sample, label, level = images[place]
            said = person.answer(sample, label, IRUO_CLASSES, level)
            for name, value in zip(columns, (person.number, sample, label, level, said)):
                columns[name].append(value)
    outliers = human_accuracy(columns, repeats=0).outliers
    bad = {person.number for person in people if person.behaviour != "good"}
    return len(bad & set(outliers)), len(set(outliers) - bad)


def row(case: Case, studies: int, seed: int) -> str:
    found = np.array([study(case, seed + turn) for turn in range(studies)])
    both, good = float((found[:, 0] == case.bad).mean()), found[:, 1]
    error = float(good.std(ddof=1) / studies**0.5)
    return f"| {case.words} | {both:.0%} | {found[:, 0].mean():.2f} of {case.bad} | {good.mean():.2f} ± {error:.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    print("| people | all bad ones removed | bad ones removed | good ones removed |\n|---|---|---|---|")
    for case in CASES:
        print(row(case, chosen.studies, chosen.seed), flush=True)


if __name__ == "__main__":
    main()
