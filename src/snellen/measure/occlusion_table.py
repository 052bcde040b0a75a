"""Accuracy by type of occluder and level of occlusion, and what each level costs (Kassaw et al. 2024, figures 6, 14 and 15)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.averages import alike_change
from snellen.measure.bootstrap import REPEATS, sum_by_group
from snellen.measure.estimate import Estimate, as_runs, sums_and_counts
from snellen.measure.few_units import few_factor
from snellen.measure.joint_bootstrap import Floats, estimates, ratio, resampled
from snellen.measure.occlusion_levels import GATE_BINS, Bins, bin_middles, occlusion_level

CLEAN = "none"


@dataclass(frozen=True)
class KindAccuracy:
    """One type of occluder: an `accuracy` for each level, the first of them unoccluded.

    `drops` is what each level loses against the first (0 there), `slopes` the change of accuracy from the level before, per unit
    of the axis (nan at the first), and `slope` that of the straight line through all levels. Per unit means per level, or, where
    levels are bins of shares, per whole object hidden.
    """

    accuracy: tuple[Estimate, ...]
    drops: tuple[Estimate, ...]
    slopes: tuple[Estimate, ...]
    slope: Estimate


def accuracy_by_level(
    correct: ArrayLike,
    kind: ArrayLike,
    level: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    positions: Sequence[float] | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[Hashable, KindAccuracy]:
    """Accuracy for each type at each level of occlusion.

    `correct` is [samples] or [runs, samples] of scores in 0 to 1. `kind` [samples] names the type of occluder; it may as well be
    the occluder's relation to the object (same class, other class). Images of kind "none" are unoccluded and count at their
    level for every type. `level` [samples] is 0, 1, … or −1 for images that are in no level. `positions` are the levels' places
    on the axis of the slopes, 0, 1, … by default. `groups` [samples] are drawn whole: videos, or the photograph that several
    images were made from, which pairs them. A level without images has nan.

    >>> from snellen.measure import accuracy_by_level
    >>> found = accuracy_by_level([1, 1, 1, 0], kind=["none", "none", "box", "box"], level=[0, 0, 1, 1])
    >>> [level.value for level in found["box"].accuracy]
    [1.0, 0.5]
    """
    scores, levels = as_runs(correct).astype(np.float64), np.asarray(level, np.int64)
    kinds = np.asarray(kind).astype(object)
    if not kinds.shape == levels.shape == scores.shape[1:]:
        raise ValueError(f"expected one kind and level per sample, got {kinds.shape} and {levels.shape}")
    if groups is not None and np.shape(groups) != levels.shape:
        raise ValueError(f"expected one group per sample, got {np.shape(groups)} for {len(levels)} samples")
    axis = np.arange(levels.max(initial=-1) + 1.0) if positions is None else np.asarray(positions, np.float64)
    if levels.max(initial=-1) >= len(axis):
        raise ValueError(f"expected a position for each level, got {len(axis)} for level {levels.max()}")
    names = [name for name in dict.fromkeys(kinds.tolist()) if name != CLEAN] or ([CLEAN] if len(kinds) else [])
    table = {}
    for name in names:
        own = ((kinds == name) | (kinds == CLEAN)) & (levels >= 0)
        members = None if groups is None else np.asarray(groups)[own]
        table[name] = _one_kind(scores[:, own], levels[own], axis, members, (repeats, seed))
    return table


def accuracy_by_share(
    correct: ArrayLike, kind: ArrayLike, share: ArrayLike, bins: Bins = GATE_BINS, groups: ArrayLike | None = None
) -> dict[Hashable, KindAccuracy]:
    """The same for levels that are bins of the hidden share [samples]; slopes are per whole object hidden.

    Bins are those of `occlusion_level`: the published defaults are `GATE_BINS` and `LATTICE_BINS`. Images in no bin do not count.

    >>> from snellen.measure import accuracy_by_share
    >>> found = accuracy_by_share([1, 1, 1, 0], kind=["none", "none", "box", "box"], share=[0, 0, 0.2, 0.2])
    >>> [level.value for level in found["box"].accuracy][:2]
    [1.0, 0.5]
    """
    return accuracy_by_level(correct, kind, occlusion_level(share, bins), groups, positions=bin_middles(bins))


def _one_kind(
    scores: Floats, levels: NDArray[np.int64], axis: Floats, groups: ArrayLike | None, draws: tuple[int, int]
) -> KindAccuracy:
    here = levels[:, None] == np.arange(len(axis))
    sums = sums_and_counts(scores)
    columns = np.concatenate([sums[:, [0]] * here, sums[:, [1]] * here], axis=1)
    known = columns[:, len(axis) :].any(0)

    def changes(values: Floats) -> Floats:
        """Drops, slopes from level to level, and the slope of all, [m, 2 levels + 1]."""
        rates = ratio(*np.split(values, 2, axis=1))
        steps = np.full(rates.shape, nan)
        steps[:, 1:] = np.diff(rates, axis=1) / np.diff(axis)
        return np.concatenate([rates[:, :1] - rates, steps, _line(rates[:, known], axis[known])], axis=1)

    present = columns[:, len(axis) :].astype(bool)
    counts = present.sum(0)
    numbers = np.concatenate([counts, counts, [counts.sum()]])
    values = changes(columns.sum(0, keepdims=True))[0]
    all_changes = estimates(values, resampled(columns, changes, groups, *draws), numbers, _factors(present, groups))
    cells = [accuracy(scores[:, rows], None if groups is None else np.asarray(groups)[rows]) for rows in here.T]
    # A change is a sum of accuracies times weights: the weight of a level is the change where that level alone is all right.
    weights = changes(np.concatenate([np.eye(len(axis)), np.ones((len(axis), len(axis)))], axis=1)).T
    all_changes = [
        alike_change(cells, own, change) if change.high - change.low <= 1e-12 and np.any(own) else change
        for own, change in zip(weights, all_changes, strict=True)
    ]
    return KindAccuracy(
        tuple(cells), tuple(all_changes[: len(axis)]), tuple(all_changes[len(axis) : -1]), all_changes[-1]
    )


def _factors(present: NDArray[np.bool_], groups: ArrayLike | None) -> Floats:
    """How far few samples or groups widen each drop, each step and the whole slope, [2 levels + 1]: of two levels the more."""
    alone = present.astype(np.float64)
    sizes = (alone if groups is None else sum_by_group(alone, groups)).astype(np.int64)
    at, everywhere = (
        np.array([few_factor(level[level > 0]) for level in each.T]) for each in (sizes, sizes.sum(1)[:, None])
    )
    drops = np.maximum(at, at[:1])
    steps = np.maximum(at, np.append(at[:1], at[:-1]))
    return np.concatenate([drops, steps, everywhere])


def _line(rates: Floats, axis: Floats) -> Floats:
    """The slope [m, 1] of least squares through rates [m, levels], every level with the same weight."""
    if len(axis) < 2 or np.ptp(axis) == 0:
        return np.full((len(rates), 1), nan)
    centred = axis - axis.mean()
    return (rates @ centred / (centred @ centred))[:, None]
