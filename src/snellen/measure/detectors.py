"""Detectors: the units of a layer that follow a concept people have a name for (Bau et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class DetectorUnits:
    """Which units detect what.

    `best` is the place of each unit's best concept, −1 where it has none, and `iou` that concept's IoU, [units]; `detectors`
    says whose IoU is above the threshold, bool [units]. `unique` counts the different concepts that have a detector, and
    `units` the detectors, by category; categories without any have 0.
    """

    detectors: NDArray[np.bool_]
    unique: dict[str, int]
    units: dict[str, int]
    best: NDArray[np.int64]
    iou: NDArray[np.float64]


def concept_iou(intersect: ArrayLike, activation: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    """IoU [units, concepts] of counted pixels, over all images: those that both cover over those that either covers.

    `intersect` [units, concepts] counts pixels of both, `activation` [units] those of each unit's mask and `truth` [concepts]
    those of each concept; nan where neither has a pixel.

    >>> from snellen.measure import concept_iou
    >>> concept_iou(intersect=[[10, 0]], activation=[20], truth=[10, 40]).tolist()
    [[0.5, 0.0]]
    """
    both = np.asarray(intersect, np.float64)
    either = np.asarray(activation, np.float64)[:, None] + np.asarray(truth, np.float64)[None, :] - both
    return np.divide(both, either, out=np.full(both.shape, np.nan), where=either > 0)


def detector_units(
    iou: ArrayLike, concepts: Sequence[str], categories: Sequence[str], threshold: float = 0.04
) -> DetectorUnits:
    """The units whose best concept, of all categories, has an IoU above the threshold; Bau et al. 2017, section 2.

    `iou` is [units, concepts]; `concepts` and `categories` name its columns. A concept counts once however many units
    detect it; the same name in two categories is two concepts. A nan is no overlap that could be measured.

    >>> from snellen.measure import detector_units
    >>> found = detector_units([[0.2, 0.01], [0.03, 0.02]], ["sky", "grass"], ["scene", "texture"])
    >>> found.detectors.tolist(), found.unique
    ([True, False], {'scene': 1, 'texture': 0})
    """
    values = np.asarray(iou, np.float64)
    if values.ndim != 2 or not values.shape[1] == len(concepts) == len(categories):
        raise ValueError(
            f"expected iou [units, concepts] with a name and a category for each concept, got {list(values.shape)}, "
            f"{len(concepts)} names and {len(categories)} categories"
        )
    known = np.where(np.isnan(values), -1.0, values)
    best = known.argmax(1) if known.shape[1] else np.full(len(known), -1)
    top = known.max(1, initial=-1.0)
    detectors = top > threshold
    pairs = [(categories[place], concepts[place]) for place in best[detectors]]
    order = list(dict.fromkeys(categories))
    return DetectorUnits(
        detectors,
        {name: len({pair for pair in pairs if pair[0] == name}) for name in order},
        {name: sum(category == name for category, _ in pairs) for name in order},
        np.where(top >= 0, best, -1),
        np.where(top >= 0, top, np.nan),
    )
