"""The bootstrap: how far a number would move had other images been drawn.

Every statistic is a function of sums over samples. Samples that add the same are drawn as one kind (`kinds`), so that
the cost is that of the kinds. Where almost every sample is a kind of its own, a resample is a row of weights, how often
each was drawn, and all resamples cost one matrix product.

The middle 95% of resamples is too narrow for few samples or groups: it neither knows that their spread is itself
uncertain (Student's t) nor that a resample varies less than the data by (n − 1) / n. Both are made up for, see `few_units.widen`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.edges import alike_interval, one_sided_interval
from snellen.measure.estimate import NO_DATA, Estimate, sums_and_counts
from snellen.measure.few_units import effective_number, sizes_of, widen
from snellen.measure.kinds import Kinds, count_kinds

REPEATS = 1000
_BLOCK = 50  # resamples made at a time: memory is a few hundred bytes per sample, whatever the repeats
_REMEMBERED = 50_000  # weights of up to so many samples are kept: 40 blocks, 100 MB at the very most
_FEW = 50  # times fewer kinds of samples than samples make drawing by kind the faster way
_ALIKE = 1e-12  # resamples that differ by no more, as a part of the value, differ by rounding only

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def bootstrap_interval(
    columns: NDArray[np.float64],
    statistic: Statistic,
    groups: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
    bounds: tuple[float, float] = (-inf, inf),
) -> tuple[float, float]:
    """The 95% percentile interval of a statistic of sums over samples, widened for few of them (see `widen`).

    `columns` [samples, q] holds what each sample adds; `statistic` maps sums [m, q] to values [m], which lie within
    `bounds`. With `groups`, one label per sample, whole groups are drawn (videos, people), not single samples. Fewer than
    two samples or groups give (nan, nan): nothing was seen to vary. Where all are alike, `alike_interval` tells what so many
    cannot exclude.

    >>> import numpy as np
    >>> from snellen.measure import bootstrap_interval
    >>> columns = np.array([[1.0], [0.0]] * 50)
    >>> low, high = bootstrap_interval(columns, lambda sums: sums[:, 0] / 100)
    >>> bool(0.35 < low < 0.5 < high < 0.65)
    True
    """
    units = columns if groups is None else sum_by_group(columns, groups)
    if len(units) < 2 or not repeats:
        return nan, nan
    sizes = sizes_of(groups, len(columns))
    value = float(statistic(units.sum(axis=0, keepdims=True))[0])
    draws = np.concatenate([statistic(sums) for sums in resampled_sums(units, repeats, seed)])
    if np.ptp(draws) <= _ALIKE * max(1.0, abs(value)):
        return alike_interval(value, effective_number(sizes), bounds)
    low, high = widen(value, percentiles(draws), sizes)
    return float(np.clip(low, *bounds)), float(np.clip(high, *bounds))


def paired_difference(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, seed: int = 0) -> Estimate:
    """Mean of `a` less mean of `b` on the same samples, with a paired bootstrap interval (within −1 and 1 for scores of 0 to 1).

    Both are [samples] or [runs, samples] of scores. A sample counts if each side has a score for it that is not nan;
    `n` is the number of such pairs. `groups` as in `bootstrap_interval`.

    >>> from snellen.measure import paired_difference
    >>> paired_difference([1, 1, 1, 0], [1, 0, 0, 0]).value
    0.5
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
    shares = all(
        (side[:, 0] >= 0).all() and (side[:, 0] <= side[:, 1]).all() for side in (columns[:, :2], columns[:, 2:])
    )
    bounds = (-1.0, 1.0) if shares else (-inf, inf)
    low, high = bootstrap_interval(columns, difference, groups, seed=seed, bounds=bounds)
    units = columns if groups is None else sum_by_group(columns, groups)
    if shares and len(units) > 1:
        least, most = one_sided_interval(difference(units))
        low, high = min(low, least), max(high, most)
    return Estimate(value, low, high, len(columns))


def resampled_sums(columns: Any, repeats: int = REPEATS, seed: int = 0) -> Iterator[NDArray[np.float64]]:
    """Sums over resampled rows of `columns`, in blocks [50 or fewer, q].

    `columns` is an array or, where most samples add nothing, a SciPy sparse matrix of small whole numbers; or `Kinds`, where
    the samples are counted already. Samples are drawn by kind where that is the faster way, which has the same law.
    """
    if isinstance(columns, Kinds):
        kinds, few = columns, True
    else:
        kinds = count_kinds(columns)
        few = len(kinds.counts) * _FEW <= columns.shape[0]
    sizes = [min(_BLOCK, repeats - start) for start in range(0, repeats, _BLOCK)]
    if few:
        random = np.random.default_rng(seed)
        yield from (kinds.draw(random, size) for size in sizes)
        return
    weights_of = _remembered_weights if columns.shape[0] <= _REMEMBERED else _weights
    for block, size in enumerate(sizes):
        weights = weights_of(columns.shape[0], seed, block)[:size]
        if isinstance(columns, np.ndarray):
            yield weights.astype(np.float64) @ columns
        else:
            by_sample = np.ascontiguousarray(weights.T).astype(np.float32)  # half the time; exact up to 2^24
            yield (columns.T @ by_sample).T.astype(np.float64)


def percentiles(values: NDArray[np.float64]) -> tuple[float, float]:
    """The range that holds the middle 95% of the values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def keep(columns: NDArray[np.float64], groups: ArrayLike | None, kept: NDArray[np.bool_]) -> tuple[Any, Any]:
    """The rows of `columns` and the labels in `groups`, if any, of the samples that are kept: most often all."""
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and groups.shape != kept.shape:
        raise ValueError(f"expected one group per sample, got {groups.shape} for {len(kept)} samples")
    if kept.all():
        return columns, groups
    return columns[kept], None if groups is None else groups[kept]


def sum_by_group(columns: NDArray[np.float64], groups: ArrayLike) -> NDArray[np.float64]:
    """What each group adds, [groups, q]."""
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    return np.stack([np.bincount(member, column, len(names)) for column in columns.T], axis=1)


def _weights(n: int, seed: int, block: int) -> NDArray[np.uint8]:
    """How often each of `n` samples was drawn, [50, n]; a sample drawn more than 255 times is not to be expected."""
    random = np.random.default_rng((seed, block))
    weights = np.empty((_BLOCK, n), np.uint8)
    for row in weights:
        row[:] = np.bincount(random.integers(n, size=n), minlength=n)
    weights.flags.writeable = False
    return weights


_remembered_weights = lru_cache(maxsize=40)(_weights)
