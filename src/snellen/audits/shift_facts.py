"""What findings about worst edits tell, and how the tables of searches tell it: lowest values so far, spread, edits left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.run_facts import PixelFacts, RunFacts
from snellen.distort import Distortion, parse
from snellen.distort.chain import Chain, Nothing
from snellen.engine.requests.cell import Cell

Rows = Sequence[Mapping[str, Any]]


class SearchPoint(msgspec.Struct, frozen=True, array_like=True):
    """The lowest accuracy after so many evaluations; an array of both in files."""

    evaluations: int
    accuracy: float


class DensityBin(msgspec.Struct, frozen=True, array_like=True):
    """How many random tuples have an accuracy from `low` to `high`; an array of the three in files."""

    low: float
    high: float
    count: int


class WorstEditsFacts(PixelFacts, frozen=True, kw_only=True):
    """The worst edits of each run, as text forms and in words, and how they were searched.

    Per run: `searched`, the lowest accuracy on the `images` that were searched (`searched_on` by set of images where there are
    several), `evaluations` and `curves` of each search, and the share of tuples that were `infeasible` under the constraint.

    The value is of the `unsearched` images, so many, or where these are too few of all: then it is `chosen` on them. Earlier
    runs, which have neither fact, reported all images, those included that were searched.
    """

    edits: list[str]
    words: list[str]
    searched: list[Number]
    images: int
    evaluations: list[list[int]]
    curves: list[list[list[SearchPoint]]]
    set: str
    length: int
    protocol: str = ""
    constraint: str | None = None
    infeasible: list[Number] | UnsetType = UNSET
    searched_on: list[list[Number]] | UnsetType = UNSET
    unsearched: int | UnsetType = UNSET
    chosen: bool | UnsetType = UNSET


class RandomEditsFacts(FindingFacts, frozen=True, kw_only=True):
    """Per run, how accuracy is spread over random tuples: the 0.1% quantile, the median and bins.

    `passed` says after how many evaluations each search was below that quantile (None: never); `edits` are the worst random
    ones of the first run, where they are pictured; `random_on` is the lowest by set of images where there are several.
    """

    quantile: list[Number]
    passed: list[list[int | None]]
    density: list[list[DensityBin]]
    median: list[Number]
    edits: str | UnsetType = UNSET
    random_on: list[list[Number]] | UnsetType = UNSET


class EditEffectFacts(FindingFacts, frozen=True, kw_only=True):
    """An edit of the first run's worst tuple as text and in words, its place from 0, the p-value of its effect, and that after
    Holm's correction (`corrected_over` which tests)."""

    edit: str
    place: int
    words: str
    p: Number
    p_corrected: Number | UnsetType = UNSET
    corrected_over: str | UnsetType = UNSET
    chosen: bool | UnsetType = UNSET


class TransferFacts(RunFacts, frozen=True, kw_only=True):
    """The model whose worst edits these are."""

    of: str


def without_each(text: str) -> list[Distortion]:
    """The edits with each of them left out once, in their order."""
    stages = [parse(edit) for edit in text.split(" | ")]
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


def thinned(curve: np.ndarray) -> list[SearchPoint]:
    """The curve where it falls, and its last point."""
    falls = np.flatnonzero(np.diff(curve, prepend=2.0) < 0)
    return [*(SearchPoint(int(at) + 1, float(curve[at])) for at in falls), SearchPoint(len(curve), float(curve[-1]))]


def density(values: np.ndarray) -> list[DensityBin]:
    """The number of tuples in bins of equal width over the range of the values."""
    if np.isnan(values).all():
        return []
    counts, edges = np.histogram(values, bins=min(40, max(5, len(values) // 10)))
    return [DensityBin(float(low), float(high), int(count)) for low, high, count in zip(edges[:-1], edges[1:], counts)]
