"""Alignment: how far the maps of one model agree with where the objects are, image by image (Won et al. 2023, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from snellen.audits.alignment_facts import MapExample
from snellen.data.keys import sample_keys
from snellen.engine.keep.map_reader import BoxedMaps, MaskedMaps
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.map import MapRequest
from snellen.measure import effective_heat_ratio, energy_pointing_game, pointing_game, suggested_boxes, wsol_sweep
from snellen.measure.energy import energies
from snellen.measure.localisation import Component
from snellen.measure.regions import region_boxes, region_masks

SWEEP = tuple(round(0.05 * step, 2) for step in range(1, 20))  # thresholds of WSOL beside the chosen one
HIT = 0.5  # the IoU from which on a box counts as found
AT_ONCE = 64  # maps that are measured together
EVEN = ("energy_pg", "ehr", "pointing_game", "wsol_iou")
_ARRAYS = ("energy_pg", "ehr", "pointing", "iou", "inside", "whole", "share", "even")  # [..., samples]


@dataclass(frozen=True)
class MapReading:
    """How maps are read: which, against the objects' `mask` or `box`, and the settings of WSOL."""

    request: MapRequest
    region: Literal["mask", "box"]
    threshold: float
    component: Component


@dataclass(frozen=True)
class Alignment:
    """What is measured of one model's maps, for the samples `ids`; nan where a map is empty or no object is in the image.

    `energy_pg`, `ehr`, `pointing` are float [runs, samples], `iou` float [runs, 1 + sweep, samples], at the chosen threshold
    first; `inside` and `whole` are energies per pixel of maps whose peak is 1, in the object's region and in all. Of the first
    run alone: `share` float [samples], how much of the image the region covers, `even` float [4, samples], what `EVEN` measure
    of maps that are the same everywhere, the objects' `boxes` and the `suggested` ones on its `canvas`, height and width in
    pixels.
    """

    ids: tuple[str, ...]
    energy_pg: np.ndarray
    ehr: np.ndarray
    pointing: np.ndarray
    iou: np.ndarray
    inside: np.ndarray
    whole: np.ndarray
    share: np.ndarray
    even: np.ndarray
    boxes: tuple[np.ndarray, ...]
    suggested: np.ndarray
    canvas: tuple[int, int]

    @property
    def hits(self) -> np.ndarray:
        """1 where the suggested box fits the object's, else 0; float [runs, 1 + sweep, samples]."""
        return np.where(np.isnan(self.iou), np.nan, self.iou >= HIT)

    def of(self, ids: Sequence[str]) -> Alignment:
        """The same of some samples, in their order."""
        place = {sample: column for column, sample in enumerate(self.ids)}
        columns = [place[sample] for sample in ids]
        parts: dict[str, Any] = {name: getattr(self, name)[..., columns] for name in _ARRAYS}
        boxes = tuple(self.boxes[column] for column in columns)
        return replace(self, ids=tuple(ids), boxes=boxes, suggested=self.suggested[columns], **parts)

    def example(self, sample: str) -> MapExample:
        """What a page shows of a sample: the numbers of the first run, the object's boxes and the suggested one."""
        column = self.ids.index(sample)
        return MapExample(
            sample=sample,
            energy_pg=float(self.energy_pg[0, column]),
            ehr=float(self.ehr[0, column]),
            iou=float(self.iou[0, 0, column]),
            boxes=tuple(tuple(round(float(edge), 2) for edge in box) for box in self.boxes[column]),  # type: ignore[misc]
            suggested=tuple(self.suggested[column].tolist()),
            canvas=self.canvas,
        )

    def examples(self, count: int) -> tuple[MapExample, ...]:
        """Some samples, by a hash of their ids: the same for every model, and from every part of the listing."""
        known = [sample for sample, share in zip(self.ids, self.share) if share > 0]
        chosen = np.argsort(sample_keys(known), kind="stable")[:count] if known else ()
        return tuple(self.example(known[place]) for place in sorted(chosen))


def alignment_of(answers: Answers, reading: MapReading) -> Alignment:
    """What is measured of a model's maps; computed once per reading."""
    return answers.once(("alignment", reading), lambda: _measure(answers, reading))


def common(alignments: Sequence[Alignment]) -> list[str]:
    """The samples that all have, in the order of the first."""
    others = [set(alignment.ids) for alignment in alignments[1:]]
    return [sample for sample in alignments[0].ids if all(sample in other for other in others)]


def _measure(answers: Answers, reading: MapReading) -> Alignment:
    parts = [_part([_chunk(run, start) for run in runs], reading) for runs, start in _chunks(answers, reading)]
    if not parts:
        none, runs = np.empty((len(answers.runs), 0)), len(answers.runs)
        iou, even = np.empty((runs, 1 + len(SWEEP), 0)), np.empty((len(EVEN), 0))
        boxes = np.empty((0, 4), np.int64)
        return Alignment((), none, none, none, iou, none, none, np.empty(0), even, (), boxes, (0, 0))
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _ARRAYS
    }
    return Alignment(
        ids=tuple(sample for part in parts for sample in part.ids),
        boxes=tuple(boxes for part in parts for boxes in part.boxes),
        suggested=np.concatenate([part.suggested for part in parts]),
        canvas=parts[0].canvas,
        **joined,
    )


def _chunks(answers: Answers, reading: MapReading) -> Iterator[tuple[Sequence[MaskedMaps | BoxedMaps], int]]:
    shards: Iterator[Sequence[MaskedMaps | BoxedMaps]]
    shards = answers.masked_maps(reading.request) if reading.region == "mask" else answers.boxed_maps(reading.request)
    return ((runs, start) for runs in shards for start in range(0, len(runs[0].ids), AT_ONCE))


def _chunk(run: MaskedMaps | BoxedMaps, start: int) -> tuple[Sequence[str], np.ndarray, Any]:
    """Some samples of a run: ids, maps, and masks or boxes."""
    stop = start + AT_ONCE
    regions = run.masks if isinstance(run, MaskedMaps) else run.boxes
    return run.ids[start:stop], run.maps[start:stop], regions[start:stop]


def _part(runs: Sequence[tuple[Sequence[str], np.ndarray, Any]], reading: MapReading) -> Alignment:
    ids, first, regions = runs[0]
    thresholds = (reading.threshold, *SWEEP)
    masks = [region_masks(own, maps.shape) for _, maps, own in runs]
    # by the highest value that maps can have, so that energies of two models are of one scale: each map's peak is 1
    pixels = [maps[0].size * np.iinfo(maps.dtype).max for _, maps, _ in runs]
    sums = [energies(maps, mask) for (_, maps, _), mask in zip(runs, masks)]
    return Alignment(
        ids=tuple(ids),
        energy_pg=np.stack([energy_pointing_game(maps, mask) for (_, maps, _), mask in zip(runs, masks)]),
        ehr=np.stack([effective_heat_ratio(maps, mask) for (_, maps, _), mask in zip(runs, masks)]),
        pointing=np.stack([pointing_game(maps, mask) for (_, maps, _), mask in zip(runs, masks)]),
        iou=np.stack([wsol_sweep(maps, own, thresholds, reading.component) for _, maps, own in runs]),
        inside=np.stack([inside / count for (inside, _), count in zip(sums, pixels)]),
        whole=np.stack([whole / count for (_, whole), count in zip(sums, pixels)]),
        share=masks[0].mean((1, 2)),
        even=_of_even_maps(first.shape, masks[0], regions, reading),
        boxes=tuple(region_boxes(regions, first.shape)),
        suggested=suggested_boxes(first, reading.threshold, reading.component),
        canvas=(first.shape[1], first.shape[2]),
    )


def _of_even_maps(shape: tuple[int, ...], masks: np.ndarray, regions: Any, reading: MapReading) -> np.ndarray:
    """float [4, samples]: what each measure says of maps that tell nothing."""
    maps = np.full(shape, 255, np.uint8)
    values = {
        "energy_pg": energy_pointing_game(maps, masks),
        "ehr": effective_heat_ratio(maps, masks),
        "pointing_game": pointing_game(maps, masks),
        "wsol_iou": wsol_sweep(maps, regions, (reading.threshold,), reading.component)[0],
    }
    return np.stack([values[name] for name in EVEN])
