"""Deletion curves: normalised, paired by image, with what they cost and how far they may err; what findings tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt

import msgspec
import numpy as np

from snellen.audits.alignment_facts import FilterCounts
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.data.keys import sample_keys
from snellen.distort.draws import Draws
from snellen.engine.keep.read_back import TrialTable
from snellen.engine.requests.trial import Columns
from snellen.measure import curve_areas, insertion_curves, normalised_curves
from snellen.search.deletion import OrderedDeletion, RandomDeletion, full_passes, samples_of, whole_samples
from snellen.search.step_sampling import roughness, sampling_error
from snellen.search.tiles import TileGrid


class PanelCurve(msgspec.Struct, frozen=True):
    """The mean of normalised scores over images at each step, and its standard error."""

    value: tuple[Number, ...]
    se: tuple[Number, ...]


class CurvePanels(msgspec.Struct, frozen=True):
    """The curves of the order by relevance, of random orders, and the difference between them."""

    order: PanelCurve
    random: PanelCurve
    difference: PanelCurve


class AreaExample(msgspec.Struct, frozen=True):
    """A sample and its area, the mean over runs."""

    sample: str
    area: Number


class CurveFacts(FindingFacts, frozen=True, kw_only=True):
    """An area between curves, in points of 100, with its standard error over images (`se_steps`: that of a step, on average) and
    the areas of both curves. Whose maps ranked the tiles, and these: their pixels a side or, unless 0, a `grid` of them.

    `whole` and `hidden` are the mean probabilities for such images, by run; `asked` is how many images were asked by
    relevance and at random, `full` how many a full evaluation asks; areas may be off by `sampling_error` for it, where
    `requested_error` was asked for. By `order_error` they may be off because other random orders could have been drawn.
    `filter` is set where a filter chose the images.
    """

    method: str
    layer: int | str | None
    tile: int
    fill: str
    evaluation: str
    grid: int = 0
    seed: int = 0
    se: Number
    se_steps: Number
    order_area: Number
    random_area: Number
    whole: tuple[Number, ...]
    hidden: tuple[Number, ...]
    asked: tuple[int, int]
    full: tuple[int, int]
    sampling_error: Number
    curves: CurvePanels
    order_error: Number | UnsetType = UNSET
    requested_error: float | UnsetType = UNSET
    filter: FilterCounts | UnsetType = UNSET


class DeletionFacts(CurveFacts, frozen=True, kw_only=True):
    """Inter-model deletion, with the images that have the highest and the lowest areas."""

    examples: tuple[AreaExample, ...] = ()


class DeletionDifferenceFacts(FindingFacts, frozen=True, kw_only=True):
    """Two models on the same images: p, p after Holm's correction (`corrected_over` which tests), the difference in area that
    would mostly have been seen, and their areas on the images of either's examples, model → sample → area."""

    method: str
    layer: int | str | None
    first: str
    second: str
    p: Number
    p_corrected: Number
    detectable: Number
    areas: Mapping[str, Mapping[str, Number]] = {}
    corrected_over: str | UnsetType = UNSET
    filter: FilterCounts | UnsetType = UNSET


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
        """float [runs, images]: the area between the curve of the order and the mean random one, in points of 100."""
        return curve_areas(self.ordered) - curve_areas(self.random).mean(2)

    @property
    def order_error(self) -> float:
        """How far the mean area may be off because random orders are drawn, 90% confidence; nan for a single one per image.

        By how far the orders of one image differ. Orders are drawn for each image by itself and are the same for all runs, so
        images err apart and runs together.
        """
        areas = curve_areas(self.random).mean(0)
        images, repeats = areas.shape
        if not images or repeats < 2:
            return float("nan")
        from scipy.special import stdtrit

        spread = sqrt(float((areas.var(1, ddof=1) / repeats).sum())) / images
        return float(stdtrit(images * (repeats - 1), 0.95)) * spread

    def from_the_other_end(self) -> DeletionCurves:
        """The same images as insertion, in the opposite order."""
        return replace(self, ordered=insertion_curves(self.ordered), random=insertion_curves(self.random))


@dataclass(frozen=True)
class _Kind:
    """The curves of one trial in one run, float [images, orders, points], and how far their mean area may be off."""

    curves: np.ndarray
    error: float


def read_curves(
    ordered: tuple[OrderedDeletion, Sequence[TrialTable]],
    random: tuple[RandomDeletion, Sequence[TrialTable]],
    among: np.ndarray | None = None,
) -> DeletionCurves:
    """The curves of both trials, each given with its tables, one per run; of all images, or `among` those that are true, which
    scores are then normalised by too."""
    (by_map, tables), (by_chance, others) = ordered, random
    points, repeats = by_map.points, by_chance.repeats
    complete = [[_is_complete(row) for row in table.rows] for table in (*tables, *others)]
    whole_rows = np.all(complete, axis=0)
    rows = np.flatnonzero(whole_rows if among is None else whole_rows & among)
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
    curves = np.array([[sample.curve(points) for sample in own] for own in samples]).reshape(len(rows), orders, points)
    counts = np.array([[len(sample.point) for sample in own] for own in samples]).reshape(len(rows), orders)
    rough = [roughness(sample.curve(points)) for sample in whole_samples(rows, points)]
    return _Kind(curves, sampling_error(counts, rough, points - 2))


def _columns_at(table: TrialTable, rows: Iterable[int]) -> list[Columns]:
    """The rows of some images, each of which has a curve."""
    return [row for row in (table.rows[int(at)] for at in rows) if row is not None]


def _is_complete(row: Columns | None) -> bool:
    """Whether a trial came to its curve."""
    return row is not None and not row["error"] and row.get("first") is not None


def _passes(tables: Sequence[TrialTable]) -> int:
    return sum(int(row["asked"]) for table in tables for row in table.rows if row is not None)


def _full_passes(tables: Sequence[TrialTable], points: int, orders: int) -> int:
    tiles = [int(row["tiles"]) for table in tables for row in table.rows if row is not None and _is_complete(row)]
    return sum(full_passes(points, number, orders) for number in tiles)


def hidden_pixels(heat: np.ndarray, sample: str, share: float, tile: int, grid: int = 0, seed: int = 0) -> np.ndarray:
    """bool [H, W]: what is hidden of a sample once a `share` of its tiles is, the least relevant by its stored map first.

    The tiles are those that the trial hid: those of equal relevance are drawn as it draws them.
    """
    height, width = heat.shape
    tiles = TileGrid.of(height, width, tile, grid)
    sums = np.bincount(tiles.numbers.ravel(), heat.ravel().astype(np.int64))
    means = sums / np.bincount(tiles.numbers.ravel())
    draws = Draws(sample_keys([sample]), seed, 0, None)  # type: ignore[arg-type]  # no draw of tensors, so no device
    (shuffle,) = draws.permutation("ties", len(tiles))
    order = shuffle[np.argsort(means[shuffle], kind="stable")]
    hidden = np.zeros(len(tiles), bool)
    hidden[order[: round(share * len(tiles))]] = True
    return hidden[tiles.numbers]
