"""iOcclusion: a ratio of two train-test gaps, each the difference of two accuracies, with absolute values."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from coverage_cases.row import Row
from snellen.measure import iocclusion

CASES = (  # train, test, train occluded, test occluded
    (0.95, 0.75, 0.70, 0.60),
    (0.99, 0.93, 0.60, 0.55),
    (0.99, 0.93, 0.60, 0.59),
    (0.99, 0.93, 0.60, 0.60),
    (0.99, 0.96, 0.50, 0.40),
    (0.99, 0.93, 0.55, 0.60),
)


def rows(simulations: int, seed: int) -> list[Row]:
    """1,000 and 5,000 images on each side, one run and five."""
    return [
        _row(max(1, simulations // (2 if runs > 1 else 1)), seed, images, runs, place)
        for images in (1000, 5000)
        for runs in (1, 5)
        for place in range(len(CASES))
    ]


def _answers(random: np.random.Generator, shares: tuple[float, float], runs: int, images: int) -> list[np.ndarray]:
    """Right or wrong, [runs, images], clean and occluded; an image that is hard for one run is hard for the others."""
    shared = np.sqrt(0.6) * random.normal(size=images)
    draws = (shared + np.sqrt(0.4) * random.normal(size=(runs, images)) for _ in shares)
    return [(ndtri(share) > draw).astype(float) for share, draw in zip(shares, draws)]


def _row(simulations: int, seed: int, images: int, runs: int, place: int) -> Row:
    train, test, train_occluded, test_occluded = CASES[place]
    truth = abs(train_occluded - test_occluded) / (train - test)
    random, hits = np.random.default_rng([seed, images, runs, place]), 0
    for _ in range(simulations):
        seen, seen_occluded = _answers(random, (train, train_occluded), runs, images)
        unseen, unseen_occluded = _answers(random, (test, test_occluded), runs, images)
        found = iocclusion(seen, unseen, seen_occluded, unseen_occluded, repeats=400)
        hits += found.low <= truth <= found.high
    gaps = f"gap {100 * (train - test):.0f}, occluded {100 * (train_occluded - test_occluded):.0f} points"
    case = f"{images:,} images, {runs} run{'s' if runs > 1 else ''}, {gaps}: {truth:.2f}"
    promise = "the interval holds the truth at least 93% of the time"
    return Row("iOcclusion", case, promise, hits / simulations, 0.93, 1.0, simulations)
