"""Accuracy with an honest interval."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import bootstrap_interval, keep
from snellen.measure.estimate import NO_DATA, Estimate, sums_and_counts

_Z = 1.959963984540054  # the normal quantile of 97.5 %


def accuracy(correct: ArrayLike, groups: ArrayLike | None = None) -> Estimate:
    """The mean score, and how sure the samples make us of it.

    `correct` is [samples] or [runs, samples] of 0/1 or of scores in [0, 1]; nan entries are excluded samples and do
    not count. `n` is the number of samples, however many the runs.

    Without `groups` and where every sample is simply right or wrong (one run, or runs that agree), the interval is
    Wilson's. Else it is a bootstrap over samples, the same resampled images for all runs. With `groups`, one label per
    sample such as its video, it is a bootstrap over groups; a single group gives a nan interval.
    """
    _check_scores(correct)
    columns = sums_and_counts(correct)
    columns, groups = keep(columns, groups, columns[:, 1] > 0)
    if not len(columns):
        return NO_DATA
    score, runs = columns.T
    value = float(_mean(columns.sum(axis=0, keepdims=True))[0])
    right_or_wrong = np.all((score == 0) | (score == runs)) and np.all(runs == runs[0])
    if groups is None and right_or_wrong:
        return Estimate(value, *wilson(value, len(columns)), len(columns))
    return Estimate(value, *bootstrap_interval(columns, _mean, groups), len(columns))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share seen in `n` trials (Wilson 1927)."""
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[:, 0] / sums[:, 1]


def _check_scores(correct: ArrayLike) -> None:
    scores = np.asarray(correct, dtype=np.float64)
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size:
        raise ValueError(f"expected scores in [0, 1], got {outside[0]:g}")
