"""Intervals at the edges, where resamples show no spread: all right, all wrong, all differences of one kind."""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # the normal quantile of 97.5%


def wilson(share: float, n: float, quantile: float = _Z) -> tuple[float, float]:
    """Wilson's 95% interval of a share seen in `n` trials (Wilson 1927)."""
    centre = (share + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    half = quantile / (1 + quantile**2 / n) * sqrt(share * (1 - share) / n + quantile**2 / (4 * n**2))
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def alike_interval(value: float, units: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The 95% interval of a mean within `bounds` where all `units` have the same value, of which resamples show no spread.

    Up to a share of 1 − 0.025^(1 / n) of all images may differ and none of n be seen (Clopper & Pearson 1934). If they are as far
    off as the bounds allow, the mean is at either end: 8 of 8 right is an accuracy from 0.63 to 1, and a difference of 1 on 5
    images one from −0.04 to 1. Without bounds nothing can be told: nan.
    """
    if not np.isfinite(bounds).all():
        return nan, nan
    seen = 0.025 ** (1 / units)
    low, high = (seen * value + (1 - seen) * bound for bound in bounds)
    return min(low, value), max(high, value)


def one_sided_interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """The least 95% interval of the mean of paired differences of right or wrong answers (−1, 0, 1), one sign of them unseen.

    Resamples never show that sign, yet it may occur. Both shares have Wilson's interval, and their difference
    follows from them (Zou & Donner 2008, MOVER). Other differences have none: (inf, −inf).
    """
    n, above, below = len(differences), int((differences == 1).sum()), int((differences == -1).sum())
    if (above and below) or above + below + int((differences == 0).sum()) < n:
        return inf, -inf
    first, second = above / n, below / n
    (least, most), (other_least, other_most) = wilson(first, n), wilson(second, n)
    low = first - second - sqrt((first - least) ** 2 + (other_most - second) ** 2)
    high = first - second + sqrt((most - first) ** 2 + (second - other_least) ** 2)
    return max(low, -1.0), min(high, 1.0)
