"""How well what is measured follows what was planted: rank correlation, slope and distance from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.estimate import Estimate

WIDTH = 2 * 1.959964  # of a 95% interval, in standard errors


@dataclass(frozen=True)
class PlantedPoint:
    """One rung: the planted value, what was measured with its 95% interval, and the known truth (nan: not known)."""

    x: float
    value: float
    low: float
    high: float
    truth: float = nan


@dataclass(frozen=True)
class SeriesScore:
    """How a series did.

    `spearman` is the rank correlation of planted and measured, −1 to 1; `slope` the least-squares slope with its 95%
    interval; `truth_slope` that of the known truth at the same rungs; `worst` the largest distance from the truth and
    `inside` the number of rungs whose interval holds it. nan, and None for `inside`, where the truth is not known.
    """

    spearman: float
    slope: Estimate
    truth_slope: float
    worst: float
    inside: int | None


def score(points: Sequence[PlantedPoint]) -> SeriesScore:
    """The score of a series' points, in any order.

    >>> from snellen.calibrate import PlantedPoint, score
    >>> points = [PlantedPoint(x=x, value=0.9 * x, low=0.8 * x, high=x, truth=x) for x in (0.0, 0.5, 1.0)]
    >>> found = score(points)
    >>> found.inside, round(found.worst, 3), round(found.spearman, 3)
    (3, 0.1, 1.0)
    """
    x, y, truth = (np.array([getattr(point, name) for point in points], float) for name in ("x", "value", "truth"))
    known = bool(len(points)) and bool(np.isfinite(truth).all())
    inside = [point.low - 1e-9 <= point.truth <= point.high + 1e-9 for point in points]
    return SeriesScore(
        spearman=spearman(x, y),
        slope=slope(points),
        truth_slope=fitted_slope(x, truth) if known else nan,
        worst=float(np.abs(y - truth).max()) if known else nan,
        inside=sum(inside) if known else None,
    )


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """The correlation of the ranks of x and y, ties given their mean rank; nan where either is constant."""
    first, second = ranks(x), ranks(y)
    if len(first) < 2 or not np.ptp(first) or not np.ptp(second):
        return nan
    return float(np.corrcoef(first, second)[0, 1])


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """The rank of each value from 1 on; equal values get the mean of their ranks."""
    _, place, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def slope(points: Sequence[PlantedPoint]) -> Estimate:
    """The least-squares slope; its interval comes from those of the points, taken as independent.

    The slope is a weighted sum of the measured values, so its standard error follows from theirs, a quarter of each
    interval; it says how far other images could move it, not whether a straight line is the right curve.
    """
    x, y = (np.array([getattr(point, name) for point in points], float) for name in ("x", "value"))
    errors = np.array([(point.high - point.low) / WIDTH for point in points])
    value = fitted_slope(x, y)
    half = WIDTH / 2 * float(np.sqrt(np.square(_weights(x) * errors).sum())) if len(points) > 1 else nan
    return Estimate(value, value - half, value + half, len(points))


def fitted_slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The slope of the least-squares line through the points; nan for fewer than two places."""
    return float(_weights(x) @ y) if len(x) > 1 and np.ptp(x) else nan


def _weights(x: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = x - x.mean()
    total = np.square(centred).sum()
    return centred / total if total else np.full_like(x, nan)
