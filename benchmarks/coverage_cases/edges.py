"""Few images and rare differences: where often all answers are alike, and resamples show no spread."""

from __future__ import annotations

import numpy as np

from coverage_cases.row import Row
from snellen.measure import compare, shape_bias

SUBJECT = "Edges"
PROMISE = "the interval holds the truth at least 93% of the time"
PAIRS = ((5, 0.9, 0.1), (8, 0.95, 0.05), (20, 0.97, 0.02), (60, 0.02, 0.0), (100, 0.02, 0.01))


def rows(simulations: int, seed: int) -> list[Row]:
    """Differences of two models on 5 to 100 images, equal models on few, and shape biases of which few answers decide."""
    table = [_difference(simulations, seed, *pair) for pair in PAIRS]
    table += [_alarms(simulations, seed, images, share) for images, share in ((5, 0.5), (8, 0.5), (40, 0.03))]
    return table + [_shape_bias(simulations, seed, bias) for bias in (0.5, 0.9, 0.97)]


def _difference(simulations: int, seed: int, images: int, first: float, second: float) -> Row:
    random, hits = np.random.default_rng([seed, images]), 0
    for _ in range(simulations):
        found = compare(*((random.random(images) < share).astype(float) for share in (first, second)))
        hits += found.low <= first - second <= found.high
    case = f"{images} images, {100 * first:g}% minus {100 * second:g}%"
    return Row(SUBJECT, case, PROMISE, hits / simulations, 0.93, 1.0, simulations)


def _alarms(simulations: int, seed: int, images: int, share: float) -> Row:
    random, alarms = np.random.default_rng([seed, images, 1]), 0
    for _ in range(simulations):
        alarms += compare(*(random.random((2, images)) < share).astype(float)).p < 0.05
    case, promise = (
        f"{images} images, both {100 * share:g}%",
        "equal models are called different in at most 5% of cases",
    )
    return Row(SUBJECT, case, promise, alarms / simulations, 0.0, 0.07, simulations)


def _shape_bias(simulations: int, seed: int, bias: float) -> Row:
    random, hits = np.random.default_rng([seed, int(100 * bias)]), 0
    shape, texture = np.zeros(60, int), np.ones(60, int)
    for _ in range(simulations):
        pick = random.random(60)
        found = shape_bias(np.where(pick < 0.3 * bias, 0, np.where(pick < 0.3, 1, 2)), shape, texture)
        hits += found.low <= bias <= found.high
    case = f"shape bias {bias:g}, 60 conflicts of which 30% are decided"
    return Row(SUBJECT, case, PROMISE, hits / simulations, 0.93, 1.0, simulations)
