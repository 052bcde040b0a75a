"""Several numbers of the same resamples: ranks, accuracies of many cells, and the differences between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS, resampled_sums, sum_by_group
from snellen.measure.estimate import Estimate

Floats = NDArray[np.float64]


def resampled(
    columns: Floats,
    statistics: Callable[[Floats], Floats],
    groups: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Floats:
    """`statistics` of each resample, [repeats, …]; it maps sums [m, q] of `columns` [samples, q] to [m, …].

    With `groups`, one label per sample, whole groups are drawn. Fewer than two samples or groups give no row.
    """
    if groups is not None and np.shape(groups) != (len(columns),):
        raise ValueError(f"expected one group per sample, got {np.shape(groups)} for {len(columns)} samples")
    units = columns if groups is None else sum_by_group(columns, groups)
    if len(units) < 2:
        return statistics(columns.sum(0, keepdims=True))[:0]
    return np.concatenate([statistics(sums) for sums in resampled_sums(units, repeats, seed)])


def intervals(draws: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of draws [repeats, …]; resamples that saw nothing (nan) do not count, none at all gives nan."""
    if not len(draws):
        return np.full(draws.shape[1:], nan), np.full(draws.shape[1:], nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all nan is an answer here
        low, high = np.nanquantile(draws, (0.025, 0.975), axis=0)
    return low, high


def estimates(
    values: Floats, draws: Floats, counts: NDArray[np.int64], factors: Floats | None = None
) -> list[Estimate]:
    """One estimate for each of `values` [k], with the interval of draws [repeats, k] and its number of samples.

    A value that is nan has no interval, whatever resamples give. The middle 95% of draws is widened by `factors` [k] for few
    samples or groups (`few_units`); where that is nan there is no interval.
    """
    low, high = (np.where(np.isnan(values), nan, bounds) for bounds in intervals(draws))
    if factors is not None:
        low, high = values + factors * (low - values), values + factors * (high - values)
    return [
        Estimate(float(v), float(a), float(b), int(n)) for v, a, b, n in zip(values, low, high, counts, strict=True)
    ]


def ratio(part: Floats, whole: Floats) -> Floats:
    """`part` / `whole`, nan where there is nothing to divide by."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.full(part.shape, nan), where=whole > 0)
