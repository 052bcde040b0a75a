"""The bootstrap: how far a number would move had other images been drawn.

A resample is a row of weights, how often each sample was drawn, so every statistic that is a function of sums over
samples costs one matrix product for all its resamples. The weights depend only on the seed and the number of samples:
two measures of the same images see the same resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.estimate import NO_DATA, Estimate, sums_and_counts

REPEATS = 1000
_BLOCK = 50  # resamples made at a time: memory is a few hundred bytes per sample, whatever the repeats
_REMEMBERED = 50_000  # weights of up to so many samples are kept: 40 blocks, 100 MB at the very most
_FEW = 20  # times fewer kinds of samples than samples make drawing by kind the faster way

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def bootstrap_interval(
    columns: NDArray[np.float64],
    statistic: Statistic,
    groups: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic of sums over samples.

    `columns` [samples, q] holds what each sample adds; `statistic` maps sums [m, q] to values [m]. With `groups`, one
    label per sample, whole groups are drawn (videos, people), not single samples. Fewer than two samples or groups
    give (nan, nan): nothing was seen to vary. Where all samples are alike the interval has no width.
    """
    units = columns if groups is None else sum_by_group(columns, groups)
    if len(units) < 2 or not repeats:
        return nan, nan
    return percentiles(np.concatenate([statistic(sums) for sums in resampled_sums(units, repeats, seed)]))


def paired_difference(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, seed: int = 0) -> Estimate:
    """Mean of `a` less mean of `b` on the same samples, with a paired bootstrap interval.

    Both are [samples] or [runs, samples] of scores. A sample counts if each side has a score for it that is not nan;
    `n` is the number of such pairs. `groups` as in `bootstrap_interval`.
    """
    first, second = sums_and_counts(a), sums_and_counts(b)
    if len(first) != len(second):
        raise ValueError(f"expected pairs, got {len(first)} and {len(second)} samples")
    columns = np.concatenate([first, second], axis=1)
    paired = (first[:, 1] > 0) & (second[:, 1] > 0)
    columns, groups = keep(columns, groups, paired)
    if not len(columns):
        return NO_DATA

    def difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]

    value = float(difference(columns.sum(axis=0, keepdims=True))[0])
    return Estimate(value, *bootstrap_interval(columns, difference, groups, seed=seed), len(columns))


def resampled_sums(columns: Any, repeats: int = REPEATS, seed: int = 0) -> Iterator[NDArray[np.float64]]:
    """Sums over resampled rows of `columns`, in blocks [50 or fewer, q].

    `columns` is an array or, where most samples add nothing, a SciPy sparse matrix of small whole numbers. Of very many
    samples those that add the same are drawn as one kind, which has the same law and costs almost nothing.
    """
    n = columns.shape[0]
    if n > _REMEMBERED:
        kinds, counts = _kinds(columns)
        if len(counts) <= n // _FEW:
            random = np.random.default_rng(seed)
            for start in range(0, repeats, _BLOCK):
                drawn = random.multinomial(n, counts / n, min(_BLOCK, repeats - start))
                yield np.asarray((kinds.T @ drawn.T.astype(np.float64)).T)
            return
    weights_of = _remembered_weights if columns.shape[0] <= _REMEMBERED else _weights
    for start in range(0, repeats, _BLOCK):
        weights = weights_of(columns.shape[0], seed, start // _BLOCK)[: repeats - start]
        if isinstance(columns, np.ndarray):
            yield weights.astype(np.float64) @ columns
        else:
            by_sample = np.ascontiguousarray(weights.T).astype(np.float32)  # half the time; exact up to 2^24
            yield (columns.T @ by_sample).T.astype(np.float64)


def percentiles(values: NDArray[np.float64]) -> tuple[float, float]:
    """The range that holds the middle 95 % of the values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def keep(columns: NDArray[np.float64], groups: ArrayLike | None, kept: NDArray[np.bool_]) -> tuple[Any, Any]:
    """The rows of `columns` and the labels in `groups`, if any, of the samples that are kept."""
    if groups is None:
        return columns[kept], None
    groups = np.asarray(groups)
    if groups.shape != kept.shape:
        raise ValueError(f"expected one group per sample, got {groups.shape} for {len(kept)} samples")
    return columns[kept], groups[kept]


def sum_by_group(columns: NDArray[np.float64], groups: ArrayLike) -> NDArray[np.float64]:
    """What each group adds, [groups, q]."""
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    return np.stack([np.bincount(member, column, len(names)) for column in columns.T], axis=1)


def _kinds(columns: Any) -> tuple[Any, NDArray[np.int64]]:
    """The different rows of `columns` and how often each occurs.

    Rows are told apart by two random projections: equal rows have equal ones, different rows do not but once in 10^20.
    """
    random = np.random.default_rng(20)
    marks = np.stack([columns @ random.random(columns.shape[1]) for _ in range(2)], axis=1)
    _, first, counts = np.unique(marks, axis=0, return_index=True, return_counts=True)
    rows = columns if isinstance(columns, np.ndarray) else columns.tocsr()
    return rows[first], counts


def _weights(n: int, seed: int, block: int) -> NDArray[np.uint8]:
    """How often each of `n` samples was drawn, [50, n]; a sample drawn more than 255 times is not to be expected."""
    random = np.random.default_rng((seed, block))
    weights = np.empty((_BLOCK, n), np.uint8)
    for row in weights:
        row[:] = np.bincount(random.integers(n, size=n), minlength=n)
    weights.flags.writeable = False
    return weights


_remembered_weights = lru_cache(maxsize=40)(_weights)
