"""A sum of absolute gaps without what noise adds to it, and its 95% interval, by inverting a test.

Noise never cancels in a sum of absolute values: the plug-in sum is above 0 even where all true gaps are 0, and resamples, which
have the noise twice, lie above that. So the observed sum is held against what true gaps would have shown. Gaps t · shape and the
noise of the bootstrap give sums whose mean and quantiles grow with t. The estimate is the t of which the observed sum is the
mean; the interval has every t of which it is none of the 2.5% at either side.

How true gaps are spread over the bins is not known, and matters. The interval holds those of three shapes: `raw`, as the observed
gaps; `even`, the same gap at each answer; `sparse`, only where gaps are above noise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 30  # halvings of [0, 1]: to 1e-9
_CLEAR = 2.5  # standard errors above which a gap is above noise


def debiased_sum(gaps: Floats, noise: Floats) -> float:
    """Σ |true gaps| of observed `gaps` [k] with `noise` [draws, k], if true gaps are spread as the observed ones."""
    size = np.abs(gaps)
    return _true_sum(gaps, noise, size / size.sum(), np.mean) if size.any() else 0.0


def interval_of_sum(gaps: Floats, shares: Floats, noise: Floats) -> tuple[float, float]:
    """The 95% interval of Σ |true gaps|; `shares` [k] of the answers are in each bin."""
    ends = [
        [_true_sum(gaps, noise, shape, partial(np.quantile, q=level)) for level in (0.975, 0.025)]
        for shape in _shapes(gaps, shares, noise)
    ]
    low, high = zip(*ends)
    return min(low), max(high)


def _shapes(gaps: Floats, shares: Floats, noise: Floats) -> list[Floats]:
    """Ways in which true gaps may be spread, each with a sum of 1: raw, even and sparse."""
    size = np.abs(gaps)
    clear = (size > _CLEAR * noise.std(0)) | (size == size.max())
    shapes = (size, shares, np.where(clear, size, 0.0))
    return [shape / shape.sum() for shape in shapes if shape.any()]


def _true_sum(gaps: Floats, noise: Floats, shape: Floats, summary: Callable[[Floats], np.floating]) -> float:
    """The t in [0, 1] for which the `summary` of the draws of Σ |t · shape + noise| is the observed sum."""
    observed, signed = float(np.abs(gaps).sum()), np.where(gaps < 0, -1.0, 1.0) * noise

    def shown(t: float) -> float:
        return float(summary(np.abs(t * shape + signed).sum(1)))

    if shown(0.0) >= observed:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) >= observed else (middle, high)
    return (low + high) / 2
