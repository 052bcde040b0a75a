"""The direction of errors: whether the interval of the runs' agreement holds that on endless images."""

from __future__ import annotations

import numpy as np

from coverage_cases.row import Row
from snellen.measure import direction
from snellen.measure.error_direction import agreement

CLASSES = 10
CASES = (  # images, runs, part of the errors that all runs send to one class, and that each sends to a class of its own
    (500, 3, 0.0, 0.3),
    (500, 3, 0.2, 0.2),
    (500, 3, 0.4, 0.0),
    (500, 3, 0.1, 0.0),
    (2000, 5, 0.0, 0.3),
    (2000, 5, 0.2, 0.2),
    (2000, 5, 0.1, 0.0),
)
PARTS = len(CASES)


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """10% of errors on clean images and 40% on modified ones, the latter in part pulled to classes."""
    images, runs, common, own = CASES[part]
    number, hits = max(1, simulations // 2), 0
    random = np.random.default_rng([seed, part])
    shares = np.full((runs, CLASSES), (1 - common - own) / CLASSES)
    shares[:, 0] += common
    shares[np.arange(runs), 1 + np.arange(runs)] += own
    truth = float(agreement(shares - 1 / CLASSES))
    for _ in range(number):
        labels = random.integers(0, CLASSES, images)
        before = _answers(random, labels, np.full((runs, CLASSES), 1 / CLASSES), 0.1)
        found = direction(before, _answers(random, labels, shares, 0.4), labels, CLASSES, repeats=400)
        hits += found.low <= truth + 1e-9 and truth <= found.high + 1e-9
    case = f"{images:,} images × {runs} runs, {100 * common:.0f}% of errors to one class, {100 * own:.0f}% to an own: {truth:.2f}"
    promise = "the interval holds the truth at least 93% of the time"
    return [Row("Direction", case, promise, hits / number, 0.93, 1.0, number)]


def _answers(random: np.random.Generator, labels: np.ndarray, shares: np.ndarray, error: float) -> np.ndarray:
    """Answers [runs, images]: right, or with this chance one of the other classes by the shares of its run."""
    named = np.stack([random.choice(CLASSES, labels.size, p=own) for own in shares])
    return np.where(random.random(named.shape) < error, named, labels)
