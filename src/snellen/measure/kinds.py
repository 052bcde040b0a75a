"""Samples by kind: those that add the same to every sum, and how many there are of each.

Answers are right or wrong, so of 100,000 images there are often no more than a dozen kinds. A resample of the images is
then a draw of so many of each kind (multinomial), which has the same law and costs the number of kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CODES = 4096  # different codes up to which whole numbers are counted by place instead of by sorting


@dataclass(frozen=True)
class Kinds:
    """What a sample of each kind adds, `rows` [kinds, q] (an array or a sparse matrix), and `counts` [kinds] of samples.

    The order follows from the rows alone, never from the order of the samples.
    """

    rows: Any
    counts: NDArray[np.int64]

    @property
    def samples(self) -> int:
        return int(self.counts.sum())

    def draw(self, random: np.random.Generator, repeats: int) -> NDArray[np.float64]:
        """The sums of `repeats` resamples, [repeats, q]."""
        samples = self.samples
        drawn = random.multinomial(samples, self.counts / samples, repeats).astype(np.float64)
        return np.asarray((self.rows.T @ drawn.T).T)


def count_kinds(columns: Any) -> Kinds:
    """The kinds of the samples, rows of `columns` [samples, q]: an array or, where most add nothing, a sparse matrix."""
    if isinstance(columns, np.ndarray):
        counted = _by_code(columns)
        if counted is not None:
            return counted
    random = np.random.default_rng(20)
    # Equal rows have equal projections; different ones do not, but once in 10^15 pairs.
    marks = np.asarray(columns @ random.random(columns.shape[1]))
    if isinstance(columns, np.ndarray):
        _, first, counts = np.unique(marks, return_index=True, return_counts=True)
        return Kinds(columns[first], counts)
    some, none = np.flatnonzero(marks), np.flatnonzero(marks == 0)  # what adds nothing need not be sorted
    _, first, counts = np.unique(marks[some], return_index=True, return_counts=True)
    chosen = np.append(none[:1], some[first])
    return Kinds(columns.tocsr()[chosen], np.append([len(none)] if len(none) else [], counts).astype(np.int64))


def _by_code(columns: NDArray[np.float64]) -> Kinds | None:
    """The kinds where every column holds whole numbers of a small range: each row is a code, and codes are counted."""
    if not columns.size:
        return None
    least, spans, codes = [], [], 1
    code = np.zeros(len(columns), np.int64)
    for column in columns.T:  # one at a time: many short rows are slow to reduce
        low, high = float(column.min()), float(column.max())
        span = high - low + 1
        if not span * codes <= _CODES or low % 1:
            return None
        if span > 1:
            place = column - low
            whole = place.astype(np.int64)
            if (whole != place).any():
                return None
            code = code * int(span) + whole
        least.append(low)
        spans.append(int(span))
        codes *= int(span)
    counts = np.bincount(code, minlength=codes)
    present = np.flatnonzero(counts)
    return Kinds(np.stack(np.unravel_index(present, spans), axis=1) + np.array(least), counts[present])
