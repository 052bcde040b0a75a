"""Maps read back: those of one run, shard by shard, and the masks or boxes of the objects on the canvas that it saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.data.canvas import Canvas, Rendered, Unshowable, render
from snellen.data.dataset import Dataset, Photo
from snellen.engine.ask.maps import Maps, stored_maps
from snellen.engine.keep.complete import incomplete
from snellen.engine.keep.store import Store


@dataclass(frozen=True)
class MaskedMaps:
    """Maps and the true masks bool of the same samples, both [samples, H, W], with their `ids`."""

    ids: Sequence[str]
    maps: np.ndarray
    masks: np.ndarray


@dataclass(frozen=True)
class BoxedMaps:
    """Maps [samples, H, W] with their `ids`, and for each sample its objects' boxes, float [n, 4] on the canvas."""

    ids: Sequence[str]
    maps: np.ndarray
    boxes: Sequence[np.ndarray]


KnownPixels = Callable[[Rendered], np.ndarray | None]
MapRows = tuple[Sequence[str], np.ndarray, Sequence[np.ndarray]]


@dataclass(frozen=True)
class MapReader:
    """The stored maps of one run of a model, and the dataset and canvas they belong to; `rows` are the positions by id."""

    store: Store
    key: str
    data: Dataset
    canvas: Canvas
    rows: Mapping[str, int]

    def shards(self) -> Iterator[Maps]:
        """The maps shard by shard, in the order of the listing; those of all samples, or nothing is concluded from them."""
        rows = 0
        for part in stored_maps(self.store, self.key):
            rows += part.rows
            if any(sample not in self.rows for sample in part.ids):
                raise incomplete(self.store, f"maps/{self.key} holds images that its data do not have")
            yield part
        if rows != len(self.rows):
            raise incomplete(self.store, f"maps/{self.key} holds {rows:,} of {len(self.rows):,} images")

    def known(self, ids: Sequence[str], fact: KnownPixels) -> dict[str, np.ndarray]:
        """What is known of those of the samples that have it, such as the object's mask, on the canvas."""
        renderings = render_rows(self.data, self.canvas, [self.rows[sample] for sample in ids])
        facts = ((sample, fact(rendering)) for sample, rendering in renderings)
        return {sample: value for sample, value in facts if value is not None}


def mask_in(rendering: Rendered) -> np.ndarray | None:
    """The object's mask, bool [H, W]."""
    return rendering.maps["mask"].astype(bool) if "mask" in rendering.maps else None


def boxes_in(rendering: Rendered) -> np.ndarray | None:
    """The objects' boxes, float [n, 4]; where only a mask is known, the box around it. None of those outside the canvas."""
    boxes = rendering.boxes
    if boxes is None:
        if (mask := mask_in(rendering)) is None:
            return None
        rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
        boxes = np.array([[columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]] if len(rows) else np.zeros((0, 4)))
    return boxes[(boxes[:, 2:] > boxes[:, :2]).all(1)].astype(np.float64)


def render_rows(data: Dataset, canvas: Canvas, rows: Sequence[int]) -> Iterator[tuple[str, Rendered]]:
    """The images at some positions of the listing, with their ids, on a canvas; without those that cannot be read or shown."""
    for start in range(0, len(rows), data.chunk):
        some = rows[start : start + data.chunk]
        for row, photo in zip(some, data.read(some)):
            if isinstance(photo, Photo):
                try:
                    rendering = render(photo, canvas)
                except Unshowable:  # it is listed where the answers are
                    continue
                yield data.samples.ids[row], rendering


def masked_maps(readers: Sequence[MapReader]) -> Iterator[list[MaskedMaps]]:
    """Shard by shard, the maps of several runs with the true masks: one entry per run, of the samples that all of them have."""
    for runs in _maps_beside(readers, mask_in):
        yield [MaskedMaps(ids, maps, np.stack(masks)) for ids, maps, masks in runs]


def boxed_maps(readers: Sequence[MapReader]) -> Iterator[list[BoxedMaps]]:
    """The same with the objects' boxes."""
    for runs in _maps_beside(readers, boxes_in):
        yield [BoxedMaps(*run) for run in runs]


def _maps_beside(readers: Sequence[MapReader], fact: KnownPixels) -> Iterator[list[MapRows]]:
    """Shard by shard, for each run the samples of which all runs have a map and something known, the maps, and that.

    Photos are decoded again, once per canvas; no more than one shard is in memory.
    """
    by_canvas = {reader.canvas: reader for reader in readers}
    for parts in zip(*(reader.shards() for reader in readers), strict=True):
        common = set.intersection(*(set(part.ids) for part in parts))
        samples = [sample for sample in parts[0].ids if sample in common]
        facts = {canvas: reader.known(samples, fact) for canvas, reader in by_canvas.items()}
        ids = [sample for sample in samples if all(sample in some for some in facts.values())]
        if ids:
            yield [
                (ids, part.of(ids), [facts[reader.canvas][sample] for sample in ids])
                for part, reader in zip(parts, readers)
            ]
