"""Tukey's rule: which values lie far outside the middle half (Tukey 1977; Kassaw et al. 2024, 3.3)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Side = Literal["both", "low", "high"]


def tukey_outliers(values: ArrayLike, side: Side = "both") -> NDArray[np.bool_]:
    """Which values lie more than 1.5 interquartile ranges below the lower or above the upper quartile, bool [values].

    Quartiles are interpolated linearly (NumPy's default; the paper names no rule). `side` looks at low or high values only. nan
    is no outlier and does not count.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"expected values [n], got an array of shape {list(numbers.shape)}")
    if side not in ("both", "low", "high"):
        raise ValueError(f"expected side both, low or high, got '{side}'")
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(len(numbers), bool)
    lower, upper = np.quantile(known, (0.25, 0.75))
    reach = 1.5 * (upper - lower)
    below, above = numbers < lower - reach, numbers > upper + reach
    return np.asarray({"both": below | above, "low": below, "high": above}[side])
