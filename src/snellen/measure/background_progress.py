"""Progress: how one accuracy moves with another over several models (Xiao et al. 2021, figure 8)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.estimate import Estimate


@dataclass(frozen=True)
class Trend(Estimate):
    """A straight line through the models' points: `value` is its slope, `intercept` its height at 0; `n` the models."""

    intercept: float


def trend(x: ArrayLike, y: ArrayLike) -> Trend:
    """The line of least squares of `y` on `x`, one point a model, with Student's 95 % interval of the slope.

    The interval takes the models as a sample of models and their accuracies as exact. Points with nan do not count; fewer
    than two different `x` give nan, two models a slope without an interval.
    """
    from scipy.special import stdtrit

    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if across.shape != up.shape or across.ndim != 1:
        raise ValueError(f"expected one x and one y per model, got {across.shape} and {up.shape}")
    counted = ~np.isnan(across + up)
    across, up = across[counted], up[counted]
    n = len(across)
    if n < 2 or np.ptp(across) == 0:
        return Trend(nan, nan, nan, n, nan)
    centred = across - across.mean()
    spread = float(centred @ centred)
    slope = float(centred @ up) / spread
    intercept = float(up.mean() - slope * across.mean())
    if n < 3:
        return Trend(slope, nan, nan, n, intercept)
    rest = up - intercept - slope * across
    half = float(stdtrit(n - 2, 0.975)) * sqrt(float(rest @ rest) / (n - 2) / spread)
    return Trend(slope, slope - half, slope + half, n, intercept)
