"""Answers of which the true DI index is known, for the cases of data interference.

Ten classes; 10% of clean and 40% of distorted answers are thrown at the classes, 15% under mild noise. Of the thrown ones a
part is pulled to class 3, or to classes 3, 4 and so on by a part each, and the rest falls on any class. Where runs agree, 80% of
the images have one fate in all runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CLASSES = 10
CLEAN, DISTORTED, MILD = 0.1, 0.4, 0.15
AGREEMENT = 0.8
Pull = float | tuple[float, ...]  # of class 3, or of classes 3, 4 and so on


@dataclass(frozen=True)
class Case:
    """How many images and runs there are, and what part of the images has one fate in all runs."""

    images: int
    runs: int
    agreement: float

    def __str__(self) -> str:
        return f"{self.images:,} images × {self.runs} runs, {'agreeing' if self.agreement else 'independent'}"

    def simulations(self, number: int) -> int:
        """Large datasets cost more and vary less: half as many."""
        return number if self.images < 5_000 else max(1, number // 2)

    def data_sets(self, pulls: tuple[Pull, ...], number: int, seed: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Labels, clean and distorted answers (a part pulled), and if there is a second pull, answers under mild noise."""
        parts = [round(100 * part) for pull in pulls for part in parts_of(pull)]
        random = np.random.default_rng((seed, self.images, round(100 * self.agreement), *parts))
        errors = (CLEAN, DISTORTED, MILD)[: 1 + len(pulls)]
        for _ in range(number):
            labels = random.integers(0, CLASSES, self.images)
            yield labels, *(self._answers(random, labels, *pair) for pair in zip(errors, (0.0, *pulls)))

    def _answers(self, random: np.random.Generator, labels: np.ndarray, error: float, pull: Pull) -> np.ndarray:
        together = random.random(self.images) < self.agreement

        def fate() -> np.ndarray:
            alone, common = random.random((self.runs, self.images)), random.random(self.images)
            return np.where(together, common, alone)

        pulled = 3 + np.searchsorted(np.cumsum(parts_of(pull)), fate(), side="right")
        named = np.where(pulled < 3 + len(parts_of(pull)), pulled, (fate() * CLASSES).astype(int))
        return np.where(fate() < error, named, labels)


CASES = [Case(images, runs, part) for images, runs in ((1_000, 4), (10_000, 5)) for part in (0.0, AGREEMENT)]


def parts_of(pull: Pull) -> tuple[float, ...]:
    return pull if isinstance(pull, tuple) else (pull,)


def true_index(pull: Pull) -> float:
    """The pulled classes alone rise, each from 1/K by its part less 1/K of all that is pulled; by the formula of the index."""
    rises = CLASSES * np.array([part - sum(parts_of(pull)) / CLASSES for part in parts_of(pull)])
    return float(rises.max() ** 2 / rises.sum()) if rises.any() else 0.0
