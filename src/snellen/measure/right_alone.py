"""Flips: the samples that only one of two models, or of two versions of one, gets right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.estimate import as_runs


@dataclass(frozen=True)
class Flips:
    """Places of the samples that only the first, and only the second, gets right; and how many `both` or `neither` does."""

    only_first: NDArray[np.int64]
    only_second: NDArray[np.int64]
    both: int
    neither: int

    @property
    def n(self) -> int:
        """How many samples count."""
        return len(self.only_first) + len(self.only_second) + self.both + self.neither


def flips(first: ArrayLike, second: ArrayLike) -> Flips:
    """Who is right where: scores [samples] or [runs, samples], nan where not counted.

    A sample counts where both have a score. Of several runs most must be right: a mean score above one half.

    >>> from snellen.measure import flips
    >>> found = flips([1, 1, 0], [1, 0, 1])
    >>> found.only_first.tolist(), found.only_second.tolist()
    ([1], [2])
    """
    a, b = (_right(scores) for scores in (first, second))
    if a.shape != b.shape:
        raise ValueError(f"expected pairs, got {len(a)} and {len(b)} samples")
    counted = ~np.isnan(a) & ~np.isnan(b)
    right, other = counted & (a > 0.5), counted & (b > 0.5)
    return Flips(
        np.flatnonzero(right & ~other), np.flatnonzero(other & ~right), int((right & other).sum()),
        int((counted & ~right & ~other).sum()),
    )  # fmt: skip


def _right(scores: ArrayLike) -> NDArray[np.float64]:
    runs = as_runs(scores).astype(np.float64)
    return np.where(np.isnan(runs).any(0), np.nan, runs.mean(0))
