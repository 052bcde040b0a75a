"""Maps read back: those of one run, shard by shard, and the masks of the objects on the canvas that it saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.data.canvas import Canvas, Rendered, Unshowable, render
from snellen.data.dataset import Dataset, Photo
from snellen.engine.ask.maps import Maps, stored_maps
from snellen.engine.keep.complete import incomplete
from snellen.engine.keep.store import Store


@dataclass(frozen=True)
class MaskedMaps:
    """Maps uint8 and the true masks bool of the same samples, both [samples, H, W], with their `ids`."""

    ids: Sequence[str]
    maps: np.ndarray
    masks: np.ndarray


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

    def masks(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        """The object's mask, bool [H, W], of those of the samples that have one."""
        renderings = render_rows(self.data, self.canvas, [self.rows[sample] for sample in ids])
        return {sample: one.maps["mask"].astype(bool) for sample, one in renderings if "mask" in one.maps}


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
    """Shard by shard, the maps of several runs with the true masks: one entry per run, of the samples that all of them have.

    Photos are decoded again, once per canvas; no more than one shard is in memory.
    """
    by_canvas = {reader.canvas: reader for reader in readers}
    for parts in zip(*(reader.shards() for reader in readers), strict=True):
        common = set.intersection(*(set(part.ids) for part in parts))
        samples = [sample for sample in parts[0].ids if sample in common]
        masks = {canvas: reader.masks(samples) for canvas, reader in by_canvas.items()}
        ids = [sample for sample in samples if all(sample in some for some in masks.values())]
        if ids:
            yield [
                MaskedMaps(ids, part.of(ids), np.stack([masks[reader.canvas][sample] for sample in ids]))
                for part, reader in zip(parts, readers)
            ]
