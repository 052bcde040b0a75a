"""iOcclusion: a ratio of two train-test gaps, each the difference of two accuracies, with absolute values.

Alone, as a mean over three shares, and as the difference of two models on the same images.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from coverage_cases.row import Row
from snellen.measure import iocclusion
from snellen.measure.iocclusion_difference import Covered, iocclusion_gap, mean_iocclusion

CASES = (  # train, test, train occluded, test occluded
    (0.95, 0.75, 0.70, 0.60),
    (0.99, 0.93, 0.60, 0.55),
    (0.99, 0.93, 0.60, 0.59),
    (0.99, 0.93, 0.60, 0.60),
    (0.99, 0.96, 0.50, 0.40),
    (0.99, 0.93, 0.55, 0.60),
)
PROMISE = "the interval holds the truth at least 93% of the time"
SHARES = 3
PARTS = 4  # alone, twice, then means over shares and gaps


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """1,000 and 5,000 images on each side, one run and five; means and gaps of 1,000, one run and three, half as often."""
    if part < 2:
        return _alone(simulations, seed, (1000, 5000)[part])
    row = (_mean, _gap)[part - 2]
    return [row(max(1, simulations // 2), seed, runs, place) for runs in (1, 3) for place in range(len(CASES))]


def _alone(simulations: int, seed: int, images: int) -> list[Row]:
    return [
        _row(max(1, simulations // (2 if runs > 1 else 1)), seed, images, runs, place)
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
    return Row("iOcclusion", case, PROMISE, hits / simulations, 0.93, 1.0, simulations)


def _covered(random: np.random.Generator, place: int, runs: int, images: int) -> Covered:
    """Scores of a case, covered three times over with the same accuracies."""
    train, test, train_occluded, test_occluded = CASES[place]
    seen, *seen_occluded = _answers(random, (train, *[train_occluded] * SHARES), runs, images)
    unseen, *unseen_occluded = _answers(random, (test, *[test_occluded] * SHARES), runs, images)
    return Covered(seen, unseen, seen_occluded, unseen_occluded)


def _truth(place: int) -> float:
    train, test, train_occluded, test_occluded = CASES[place]
    return abs(train_occluded - test_occluded) / (train - test)


def _mean(simulations: int, seed: int, runs: int, place: int) -> Row:
    random, hits = np.random.default_rng([seed, 3, runs, place]), 0
    for _ in range(simulations):
        found = mean_iocclusion(_covered(random, place, runs, 1000), repeats=400)
        hits += found.low <= _truth(place) <= found.high
    case = f"mean over {SHARES} shares, 1,000 images, {runs} run{'s' if runs > 1 else ''}: {_truth(place):.2f}"
    return Row("iOcclusion", case, PROMISE, hits / simulations, 0.93, 1.0, simulations)


def _gap(simulations: int, seed: int, runs: int, place: int) -> Row:
    """Two models of which the other is of the first case; images of both are the same, their answers are not."""
    random, hits, truth = np.random.default_rng([seed, 4, runs, place]), 0, _truth(place) - _truth(0)
    for _ in range(simulations):
        first, second = (_covered(random, each, runs, 1000) for each in (place, 0))
        found = iocclusion_gap(first, second, shared=True, repeats=400)
        hits += found.low <= truth <= found.high
    case = f"gap of two models, 1,000 images, {runs} run{'s' if runs > 1 else ''}: {_truth(place):.2f} less {_truth(0):.2f}"
    return Row("iOcclusion", case, PROMISE, hits / simulations, 0.93, 1.0, simulations)
