"""The BG-gap: a paired difference of two accuracies on the same foregrounds."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from coverage_cases.row import Row
from snellen.measure import bg_gap


def rows(simulations: int, seed: int) -> list[Row]:
    """Gaps of 0 to 40 points on 100 to 4,050 foregrounds, of one and of three runs; right answers go together by 0.6."""
    cases = [
        (100, 1, 0.8, 0.8),
        (828, 1, 0.62, 0.55),
        (4050, 1, 0.91, 0.843),
        (450, 1, 0.95, 0.55),
        (828, 3, 0.62, 0.55),
    ]
    return [_row(simulations, seed, *case) for case in cases]


def _row(simulations: int, seed: int, images: int, runs: int, same: float, rand: float) -> Row:
    random, hits = np.random.default_rng([seed, images, runs]), 0
    for _ in range(simulations):
        shared = np.sqrt(0.6) * random.normal(size=images)
        a, b = (ndtri(share) > shared + np.sqrt(0.4) * random.normal(size=(runs, images)) for share in (same, rand))
        found = bg_gap(a.astype(float), b.astype(float))
        hits += found.low <= same - rand <= found.high
    case = f"{images:,} foregrounds, {runs} run{'s' if runs > 1 else ''}, {100 * same:g}% less {100 * rand:g}%"
    assert abs(ndtr(ndtri(same)) - same) < 1e-9  # the two parts of the noise have variance 1 together
    return Row("BG-gap", case, "the interval holds the gap 95% of the time", hits / simulations, 0.93, 1.0, simulations)
