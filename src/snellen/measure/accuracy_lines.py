"""How one accuracy moves with another over several models, and how far a model lies off that line.

Of backgrounds: accuracy on one variant against another (Xiao et al. 2021, figure 8). Of occlusion: what a model has beyond being
better clean (Kassaw et al. 2024, 6.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.estimate import Estimate
from snellen.measure.joint_bootstrap import Floats


@dataclass(frozen=True)
class Trend(Estimate):
    """A straight line through the models' points: `value` is its slope, `intercept` its height at 0; `n` the models."""

    intercept: float


def trend(x: ArrayLike, y: ArrayLike) -> Trend:
    """The line of least squares of `y` on `x`, one point per model, with Student's 95 % interval of the slope.

    The interval takes the models as a sample of models and their accuracies as exact. Points with nan do not count; fewer
    than two different `x` give nan, two models a slope without an interval.

    >>> from snellen.measure import trend
    >>> round(trend([0.5, 0.6, 0.7], [0.2, 0.4, 0.6]).value, 6)  # the slope
    2.0
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


@dataclass(frozen=True)
class OcclusionResiduals:
    """`line` is occluded on clean accuracy over all models; `residual` [models] is each model's height above it.

    `t` [models] is the residual over its standard error, from the line of the *other* models; `p` two-sided, Student's with
    models − 3 degrees of freedom, before any correction for many tests (`holm`).
    """

    line: Trend
    residual: Floats = field(compare=False)
    t: Floats = field(compare=False)
    p: Floats = field(compare=False)


def occlusion_residual(clean: ArrayLike, occluded: ArrayLike) -> OcclusionResiduals:
    """What each model has under occlusion beyond what its clean accuracy [models] tells.

    The line is that of `trend`. Models with nan do not count and have nan. Fewer than four, or the same clean accuracy for all,
    have no `t` and `p`, nor has a model that alone decides the slope, or beside which the others lie on a line without any error.

    >>> from snellen.measure import occlusion_residual
    >>> found = occlusion_residual([0.5, 0.6, 0.7, 0.8], [0.3, 0.4, 0.5, 0.9])
    >>> int(found.residual.argmax())  # the last model stands occlusion better than its clean accuracy tells
    3
    """
    x, y = np.asarray(clean, np.float64), np.asarray(occluded, np.float64)
    line = trend(x, y)
    residual = y - line.intercept - line.value * x
    t, p = np.full(x.shape, nan), np.full(x.shape, nan)
    if line.n < 4 or np.isnan(line.value):
        return OcclusionResiduals(line, residual, t, p)
    from scipy.special import stdtr

    counted = ~np.isnan(residual)
    centred = x[counted] - x[counted].mean()
    own = residual[counted]
    free = 1 - 1 / line.n - centred**2 / (centred @ centred)  # 1 − leverage
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (own @ own - own**2 / free) / (line.n - 3)
        t[counted] = np.where((free > 1e-9) & (variance > 1e-24), own / np.sqrt(variance * free), nan)
    p[counted] = 2 * stdtr(line.n - 3, -np.abs(t[counted]))
    return OcclusionResiduals(line, residual, t, p)
