"""The 95% bounds of a ratio by a noisy gap: resamples lie above the truth more often than below, and some are infinite."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from snellen.measure.bootstrap import widen

_Z = 1.959963984540054


def ratio_bounds(value: float, draws: NDArray[np.float64], units: int) -> tuple[float, float]:
    """The middle 95% of `draws` around `value`, widened for few `units` (`bootstrap.widen`).

    Where more than half of the resamples lie above the value, the value itself is likely to lie above the truth: the lower
    bound moves down as by the bias-corrected bootstrap (Efron 1981). The upper bound never does, as an absolute value that is
    near 0 lies above the truth without resamples that tell. Both are draws themselves: between a number and infinity there is
    nothing to interpolate. A draw that is nan says nothing and counts at both ends.
    """
    if not len(draws) or not np.isfinite(value) or units < 2:
        return nan, nan
    from scipy.special import ndtr, ndtri

    known = draws[~np.isnan(draws)]
    last = len(draws) - 1
    below = (np.sum(known < value) + np.sum(known == value) / 2 + 0.5) / (len(known) + 1)
    shift = min(0.0, float(ndtri(below)))
    least, most = (np.sort(np.where(np.isnan(draws), end, draws)) for end in (-np.inf, np.inf))
    low = least[int(np.floor(ndtr(2 * shift - _Z) * last))]
    high = most[int(np.ceil(0.975 * last))]
    return widen(value, (float(low), float(high)), units)


def clear_of_zero(draws: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the middle 95% of draws [resamples, …] lies on one side of 0."""
    least, most = np.quantile(draws, (0.025, 0.975), axis=0)
    return np.asarray((least > 0) | (most < 0))
