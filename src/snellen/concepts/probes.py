"""Probes: images on a model's canvas beside what their pixels show, batch by batch."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from snellen.concepts.sources import PhotoSource, PixelSource, Source
from snellen.concepts.upsampling import at_centres
from snellen.data.concept_maps import Concept
from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.engine.ask.slides import slides
from snellen.engine.requests.survey import Ground
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Probe:
    """One batch: images uint8 [n, 3, H, W] and labels int16 [n, maps, grid height, grid width], on the device, without those
    that could not be shown; their `positions` in the data, int64 [n]; and how many were `taken`."""

    images: Tensor
    labels: Tensor
    positions: Tensor
    taken: int


class Probes:
    """All images of a dataset with the concepts of some sources, on a `grid` of cells (height, width)."""

    def __init__(self, ground: Ground, sources: Sequence[Source], grid: int) -> None:
        self.ground = ground
        self.photo_sources = [source for source in sources if isinstance(source, PhotoSource)]
        self.pixel_sources = [source for source in sources if isinstance(source, PixelSource)]
        ordered: list[Source] = [*self.photo_sources, *self.pixel_sources]
        self.concepts: tuple[Concept, ...] = tuple(concept for source in ordered for concept in source.concepts)
        self._offsets = list(accumulate([0, *(len(source.concepts) for source in ordered)]))
        self.grid = min(grid, ground.canvas.height), min(grid, ground.canvas.width)
        maps = sum(source.maps for source in self.photo_sources)
        self._names = [f"concepts {number}" for number in range(maps)]

    def batches(self, start: int = 0) -> Generator[Probe]:
        """The batches from a position on, decoded ahead."""
        ground = self.ground
        ends = range(start, len(ground.data), ground.batch)
        shards = [range(first, min(first + ground.batch, len(ground.data))) for first in ends]
        yield from self._of(shards)

    def at(self, positions: Sequence[int]) -> Generator[Probe]:
        """The images at some positions, one by one; none where one cannot be shown."""
        yield from self._of([range(position, position + 1) for position in positions])

    def _of(self, shards: Sequence[range]) -> Generator[Probe]:
        ground, device = self.ground, self.ground.model.device
        data = self._with_maps(ground.data) if self._names else ground.data
        pinned = device is not None and device.type == "cuda"
        decoded = slides(data, shards, [ground.canvas], ground.threads, pinned=pinned, map_names=self._names)
        with closing(decoded):
            for slide in decoded:
                rows = torch.tensor([row for row, error in enumerate(slide.errors) if not error], dtype=torch.int64)
                images = slide.images[ground.canvas].to(device, non_blocking=True)[rows.to(device)]
                labels = [at_centres(slide.maps[ground.canvas], *self.grid)[rows].to(device)] if self._names else []
                for source, offset in zip(self.pixel_sources, self._offsets[len(self.photo_sources) :]):
                    labels.append(self._seen(source, images, offset))
                positions = (rows + slide.positions.start).to(device)
                yield Probe(images, torch.cat(labels, 1), positions, len(slide.positions))

    def _seen(self, source: PixelSource, images: Tensor, offset: int) -> Tensor:
        """What a source sees in images, int16 [n, 1, grid height, grid width]."""
        height, width = self.grid
        if not len(images):
            return torch.zeros((0, 1, height, width), dtype=torch.int16, device=images.device)
        if source.pointwise:  # of the pixels that count alone
            images = at_centres(images, height, width)
        numbers = at_centres(source.read(images), height, width)[:, None]
        return torch.where(numbers > 0, numbers + offset, 0).short()

    def _with_maps(self, data: Dataset) -> Dataset:
        """The dataset whose photos carry the maps of the sources."""
        return replace(data, read=lambda positions: self._read(data, positions), read_together=None)

    def _read(self, data: Dataset, positions: Sequence[int]) -> list[Photo | Unreadable]:
        photos = data.read(positions)
        rows = [row for row, photo in enumerate(photos) if isinstance(photo, Photo)]
        readable = [photo for photo in photos if isinstance(photo, Photo)]
        places = [positions[row] for row in rows]
        known = [source.read(places, readable) for source in self.photo_sources]
        for number, row in enumerate(rows):
            photos[row] = self._joined(readable[number], [maps[number] for maps in known])
        return photos

    def _joined(self, photo: Photo, known: Sequence[Sequence[np.ndarray] | Unreadable]) -> Photo | Unreadable:
        """The photo with all its maps, numbered through; or why one of them cannot be read."""
        maps: list[np.ndarray] = []
        for offset, own in zip(self._offsets, known):
            if isinstance(own, Unreadable):
                return own
            maps += [np.where(plane > 0, plane + offset, 0).astype(np.int16) for plane in own]
        return replace(photo, maps={**photo.maps, **dict(zip(self._names, maps))})
