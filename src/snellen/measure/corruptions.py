"""The mean corruption error: how often common corruptions make a model wrong (Hendrycks & Dietterich 2019, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.bootstrap import paired_difference
from snellen.measure.estimate import Estimate, as_runs


@dataclass(frozen=True)
class CorruptionError(Estimate):
    """The mean over kinds of their errors, each over that of the reference where there is one.

    `relative` is the same of what corruption adds to the clean error; `by_kind` has the error of each kind.
    """

    relative: Estimate
    by_kind: Mapping[str, Estimate]


def corruption_error(
    clean: ArrayLike,
    corrupted: Mapping[str, Sequence[ArrayLike]],
    reference: Mapping[str, float] | None = None,
    reference_clean: float = 0.0,
    groups: ArrayLike | None = None,
) -> CorruptionError:
    """The corruption errors of scores, [samples] or [runs, samples]: `corrupted` has those of each severity by kind.

    The error of a kind is that of its severities together. With a `reference` (the mean error of another model by kind, and
    its `reference_clean` error) it is divided by that model's; for the relative one both lose their clean errors before.

    >>> from snellen.measure import corruption_error
    >>> found = corruption_error([1, 1], {"fog": [[1, 0], [0, 0]], "snow": [[1, 1], [1, 0]]})
    >>> found.value, found.by_kind["fog"].value
    (0.5, 0.75)
    """
    if not corrupted:
        raise ValueError("expected at least one kind of corruption")
    scores = {kind: np.mean([as_runs(each) for each in some], axis=0) for kind, some in corrupted.items()}
    by_kind = {
        kind: _times(_error(each, groups), 1 / reference[kind] if reference else 1.0) for kind, each in scores.items()
    }
    shares = {kind: 1 / (reference[kind] * len(scores)) if reference else 1 / len(scores) for kind in scores}
    weights = np.array([shares[kind] for kind in scores])
    every = np.stack(list(scores.values()))
    total = float(weights.sum())
    mean = _times(_error(np.tensordot(weights / total, every, 1), groups), total)
    return CorruptionError(
        mean.value,
        mean.low,
        mean.high,
        mean.n,
        _relative(as_runs(clean), scores, reference, reference_clean, groups),
        by_kind,
    )


def _relative(
    clean: NDArray[np.float64],
    scores: Mapping[str, NDArray[np.float64]],
    reference: Mapping[str, float] | None,
    reference_clean: float,
    groups: ArrayLike | None,
) -> Estimate:
    """The mean over kinds of what each adds to the clean error, by what it adds to that of the reference."""
    added = {kind: reference[kind] - reference_clean if reference else 1.0 for kind in scores}
    if min(added.values()) <= 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    weights = np.array([1 / (added[kind] * len(scores)) for kind in scores])
    total = float(weights.sum())
    corrupted = np.tensordot(weights / total, np.stack(list(scores.values())), 1)
    return _times(paired_difference(clean, corrupted, groups), total)


def _error(scores: NDArray[np.float64], groups: ArrayLike | None) -> Estimate:
    right = accuracy(np.clip(scores, 0, 1), groups)  # a weighted mean may be 1 and some bits
    return replace(right, value=1 - right.value, low=1 - right.high, high=1 - right.low)


def _times(estimate: Estimate, factor: float) -> Estimate:
    return replace(estimate, value=estimate.value * factor, low=estimate.low * factor, high=estimate.high * factor)
