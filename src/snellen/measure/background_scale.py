"""The size of an object: how it bears on what its background tells, and how much it tells by itself (Xiao et al. 2021, D)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.averages import alike_change
from snellen.measure.bootstrap import bootstrap_interval
from snellen.measure.estimate import NO_DATA, Estimate, as_runs

FOLDS = 5
MOST_BINS = 20


@dataclass(frozen=True)
class SizeBin:
    """The images whose objects' boxes cover between `start` (included) and `stop` of the image, and their accuracy."""

    start: float
    stop: float
    estimate: Estimate


@dataclass(frozen=True)
class BySize(Estimate):
    """`value` is the accuracy on the smaller half of the objects less that on the larger half; `bins` go by size."""

    bins: tuple[SizeBin, ...]


@dataclass(frozen=True)
class ScaleLeakage(Estimate):
    """`value` is `guessed` less `chance`: what knowing nothing but an object's size adds to guessing its class.

    `guessed` is the accuracy of the guesses from size, on images that they were not learnt from; `chance` is the share of the
    most frequent class, the best that can be done without.
    """

    guessed: float
    chance: float


def accuracy_by_size(
    correct: ArrayLike, area: ArrayLike, edges: Sequence[float], groups: ArrayLike | None = None
) -> BySize:
    """Accuracy against box size (Xiao et al. 2021, figure 14): one bin between each two `edges`, the last with its upper end.

    `correct` is [samples] or [runs, samples] of 0/1; `area` [samples] is the share of the image that the box covers, nan
    where it is not known. Bins without images have nan. Objects of the median size belong to the smaller half.

    >>> from snellen.measure import accuracy_by_size
    >>> found = accuracy_by_size([0, 1, 1, 1], [0.1, 0.2, 0.6, 0.9], edges=[0, 0.5, 1])
    >>> [bin.estimate.value for bin in found.bins]
    [0.5, 1.0]
    """
    scores, areas = as_runs(correct).astype(np.float64), np.asarray(area, dtype=np.float64)
    if areas.shape != scores.shape[1:]:
        raise ValueError(f"expected one area per sample, got {areas.shape} for {scores.shape[1]} samples")
    known = ~np.isnan(areas)
    scores, areas, held = scores[:, known], areas[known], None if groups is None else np.asarray(groups)[known]
    bins = []
    for start, stop in itertools.pairwise(edges):
        inside = (areas >= start) & ((areas < stop) | ((areas == stop) & (stop == edges[-1])))
        some = accuracy(scores[:, inside], None if held is None else held[inside])
        bins.append(SizeBin(float(start), float(stop), some))
    if not len(areas):
        return BySize(*_fields(NO_DATA), tuple(bins))
    small = areas <= np.median(areas)
    right = scores.mean(axis=0)
    columns = np.stack([right * small, small, right * ~small, ~small], axis=1).astype(np.float64)
    sums = columns.sum(axis=0, keepdims=True)
    interval = bootstrap_interval(columns, _smaller_less_larger, held, bounds=(-1, 1))
    whole = Estimate(float(_smaller_less_larger(sums)[0]), *interval, len(areas))
    halves = [half for half in (small, ~small) if half.any()]
    if len(halves) == 2 and all(np.ptp(right[half]) == 0 for half in halves):
        cells = [accuracy(scores[:, half], None if held is None else held[half]) for half in halves]
        whole = alike_change(cells, np.array([1.0, -1.0]), whole)
    return BySize(*_fields(whole), tuple(bins))


def scale_leakage(
    area: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None, folds: int = FOLDS, seed: int = 0
) -> ScaleLeakage:
    """How far the class can be guessed from an object's size alone, by cross-validation.

    `area` [samples] of box shares (nan does not count), `labels` [samples] of classes. In each of `folds` parts the class
    is guessed that is most frequent among the other parts' objects of about the same size. There are as many bins of equal
    counts as leave some ten objects a class in each, but one a class at least, and 20 at most. A group (all frames of a
    clip, say) is never on both sides.

    >>> import numpy as np
    >>> from snellen.measure import scale_leakage
    >>> area = np.repeat([0.1, 0.5], 20)  # objects of class 0 are small, those of class 1 are large
    >>> found = scale_leakage(area, np.repeat([0, 1], 20))
    >>> found.guessed, found.chance
    (1.0, 0.5)
    """
    areas, classes = np.asarray(area, dtype=np.float64), np.asarray(labels)
    if areas.shape != classes.shape:
        raise ValueError(f"expected one area per label, got {areas.shape} and {classes.shape}")
    counted = ~np.isnan(areas)
    areas, held = areas[counted], None if groups is None else np.asarray(groups)[counted]
    names, numbers = np.unique(classes[counted], return_inverse=True)
    part = _parts(len(areas) if held is None else held, numbers, folds, seed)
    if len(np.unique(part)) < 2:
        return ScaleLeakage(*_fields(NO_DATA), float("nan"), float("nan"))
    right = np.zeros(len(areas))
    for fold in np.unique(part):
        away = part == fold
        right[away] = _guesses(areas[~away], numbers[~away], areas[away], len(names)) == numbers[away]
    counts = np.bincount(numbers)
    chance = counts.max() / counts.sum()
    columns = np.stack([right, numbers == counts.argmax(), np.ones(len(right))], axis=1).astype(np.float64)
    value = float(right.mean() - chance)
    interval = bootstrap_interval(columns, _above, held, seed=seed, bounds=(-1, 1))
    return ScaleLeakage(value, *interval, len(right), float(right.mean()), float(chance))


def _parts(units: int | NDArray[np.object_], numbers: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The part of each sample, dealt out class by class, so that every class is spread evenly; groups stay together."""
    random = np.random.default_rng(seed)
    if isinstance(units, int):
        first, member = np.arange(units), np.arange(units)
    else:
        _, first, member = np.unique(units, return_index=True, return_inverse=True)
    order = random.permutation(len(first))
    order = order[np.argsort(numbers[first][order], kind="stable")]
    part = np.empty(len(first), np.int64)
    part[order] = np.arange(len(first)) % folds
    return part[member]


def _guesses(
    areas: NDArray[np.float64], numbers: NDArray[np.int64], asked: NDArray[np.float64], classes: int
) -> NDArray[np.int64]:
    """The class most frequent (ties: the lowest) among the areas of the asked one's bin."""
    bins = int(np.clip(len(areas) // (10 * classes), min(max(classes, 2), MOST_BINS), MOST_BINS))
    edges = np.unique(np.quantile(areas, np.arange(1, bins) / bins))
    counts = np.zeros((len(edges) + 1, classes), np.int64)
    np.add.at(counts, (np.searchsorted(edges, areas, side="right"), numbers), 1)
    empty = ~counts.any(axis=1)
    counts[empty] = counts.sum(axis=0)
    return counts.argmax(axis=1)[np.searchsorted(edges, asked, side="right")]


def _smaller_less_larger(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # objects that all have one size have no larger half
        return sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]


def _above(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return (sums[:, 0] - sums[:, 1]) / sums[:, 2]


def _fields(estimate: Estimate) -> tuple[float, float, float, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n
