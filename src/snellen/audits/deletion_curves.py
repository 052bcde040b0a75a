"""Deletion curves as audits read them: normalised, paired by image, with what they cost and how far they may err."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from snellen.engine.keep.read_back import TrialTable
from snellen.engine.requests.trial import Columns
from snellen.measure import curve_areas, insertion_curves, normalised_curves
from snellen.search.deletion import OrderedDeletion, RandomDeletion, full_passes, samples_of, whole_samples
from snellen.search.step_sampling import roughness, sampling_error


@dataclass(frozen=True)
class DeletionCurves:
    """The normalised curves of one model on the images (rows of the listing) that all its runs have both kinds of:
    `ordered` [runs, images, points] and `random` [runs, images, repeats, points].

    `whole` and `hidden` are the mean probabilities for such images, [runs]. `passes` is how many images were asked for either
    kind over all runs, `full` how many a full evaluation asks; `error` is how far the mean area may be off, 90% confidence.
    """

    rows: np.ndarray
    ordered: np.ndarray
    random: np.ndarray
    whole: np.ndarray
    hidden: np.ndarray
    passes: tuple[int, int]
    full: tuple[int, int]
    error: float

    @property
    def areas(self) -> np.ndarray:
        """float [runs, images]: the area between the curve of the order and the mean random one, 0 to 100."""
        return curve_areas(self.ordered) - curve_areas(self.random).mean(2)

    def from_the_other_end(self) -> DeletionCurves:
        """The same images as insertion, in the opposite order."""
        return replace(self, ordered=insertion_curves(self.ordered), random=insertion_curves(self.random))


@dataclass(frozen=True)
class _Kind:
    """The curves of one trial in one run, float [images, orders, points], and how far their mean area may be off."""

    curves: np.ndarray
    error: float


def read_curves(
    ordered: tuple[OrderedDeletion, Sequence[TrialTable]], random: tuple[RandomDeletion, Sequence[TrialTable]]
) -> DeletionCurves:
    """The curves of both trials, each given with its tables, one per run."""
    (by_map, tables), (by_chance, others) = ordered, random
    points, repeats = by_map.points, by_chance.repeats
    complete = [[_is_complete(row) for row in one.rows] for one in (*tables, *others)]
    rows = np.flatnonzero(np.all(complete, axis=0))
    curves, chance, ends, errors = [], [], [], []
    for table, other in zip(tables, others):
        own, by_luck = _columns_at(table, rows), _columns_at(other, rows)
        first, last = ([row[name] for row in own] for name in ("first", "last"))
        kinds = _kind_of(own, 1, points), _kind_of(by_luck, repeats, points)
        span = float(np.mean(first) - np.mean(last)) if own else np.nan
        curves.append(normalised_curves(kinds[0].curves[:, 0], first, last))
        chance.append(normalised_curves(kinds[1].curves, first, last))
        ends.append((np.mean(first), np.mean(last)) if own else (np.nan, np.nan))
        errors.append(
            100 * hypot(kinds[0].error, kinds[1].error) / span if span > 0 and np.isfinite(curves[-1]).all() else np.nan
        )
    whole, hidden = np.array(ends).T
    return DeletionCurves(
        rows=rows,
        ordered=np.stack(curves),
        random=np.stack(chance),
        whole=whole,
        hidden=hidden,
        passes=(_passes(tables), _passes(others)),
        full=(_full_passes(tables, points, 1), _full_passes(others, points, repeats)),
        error=float(np.mean(errors)),  # all runs are looked at in the same places, so that they err together
    )


def _kind_of(rows: Sequence[Columns], orders: int, points: int) -> _Kind:
    samples = [samples_of(row, orders) for row in rows]
    curves = np.array([[one.curve(points) for one in some] for some in samples]).reshape(len(rows), orders, points)
    counts = np.array([[len(one.point) for one in some] for some in samples]).reshape(len(rows), orders)
    rough = [roughness(one.curve(points)) for one in whole_samples(rows, points)]
    return _Kind(curves, sampling_error(counts, rough, points - 2))


def _columns_at(table: TrialTable, rows: Iterable[int]) -> list[Columns]:
    """The rows of some images, each of which has a curve."""
    return [row for row in (table.rows[int(at)] for at in rows) if row is not None]


def _is_complete(row: Columns | None) -> bool:
    """Whether a trial came to its curve."""
    return row is not None and not row["error"] and row.get("first") is not None


def _passes(tables: Sequence[TrialTable]) -> int:
    return sum(int(row["asked"]) for one in tables for row in one.rows if row is not None)


def _full_passes(tables: Sequence[TrialTable], points: int, orders: int) -> int:
    tiles = [int(row["tiles"]) for one in tables for row in one.rows if row is not None and _is_complete(row)]
    return sum(full_passes(points, number, orders) for number in tiles)
