"""What the tables of searches tell: lowest values so far, the spread of random tuples, and edits left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from snellen.distort import Distortion, parse
from snellen.distort.chain import Chain, Nothing
from snellen.engine.requests.cell import Cell

Rows = Sequence[Mapping[str, Any]]


def without_each(text: str) -> list[Distortion]:
    """The edits with each of them left out once, in their order."""
    stages = [parse(one) for one in text.split(" | ")]
    rests = [(*stages[:place], *stages[place + 1 :]) for place in range(len(stages))]
    return [Chain(rest) if len(rest) > 1 else rest[0] if rest else Nothing() for rest in rests]


def runs_in(tables: Mapping[Cell, Sequence[Rows]]) -> int:
    return len(next(iter(tables.values()), ()))


def minima(rows: Rows) -> np.ndarray:
    """float [evaluations]: the lowest accuracy so far."""
    return np.minimum.accumulate([1.0 if row["value"] is None else row["value"] for row in rows])


def infeasible_share(tables: Mapping[Cell, Sequence[Rows]], run: int) -> float:
    """The share of the tuples that did not meet the constraint."""
    return float(np.mean([row["value"] is None for runs in tables.values() for row in runs[run]]))


def passed(rows: Rows, threshold: float) -> int | None:
    """After how many evaluations a search was below the threshold; None where it never was."""
    below = np.flatnonzero(minima(rows) < threshold)
    return int(below[0]) + 1 if len(below) else None


def thinned(curve: np.ndarray) -> list[tuple[int, float]]:
    """The curve where it falls, and its last point: (evaluations, accuracy)."""
    falls = np.flatnonzero(np.diff(curve, prepend=2.0) < 0)
    points = [(int(at) + 1, float(curve[at])) for at in falls]
    return [*points, (len(curve), float(curve[-1]))]


def density(values: np.ndarray) -> list[tuple[float, float, int]]:
    """The number of tuples in bins of equal width over the range of the values: (low, high, count)."""
    if np.isnan(values).all():
        return []
    counts, edges = np.histogram(values, bins=min(40, max(5, len(values) // 10)))
    return [(float(a), float(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts)]
