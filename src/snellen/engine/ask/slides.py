"""Slides: a shard's images, decoded once and put on every canvas the models need."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas, Unshowable, placement, render
from snellen.data.dataset import Dataset, Photo, Photos, Unreadable
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

AHEAD = 2  # shards that are decoded before they are asked for


@dataclass  # not frozen: its rows are filled as photos are decoded
class Slides:
    """One shard: uint8 [n, 3, H, W] per canvas; an unreadable image is black there and has its reason in `errors`.

    `keys` are the sample keys that random draws start from. `label_maps` are int32 [n, H, W]: class + 1, and 0 for no label.
    `maps` are further ones that were asked for, int16 [n, maps, H, W].
    """

    positions: range
    keys: np.ndarray
    images: dict[Canvas, Tensor]
    masks: dict[Canvas, Tensor]
    boxes: dict[Canvas, list[np.ndarray]]
    label_maps: dict[Canvas, Tensor]
    checksums: list[str]
    sizes: list[tuple[int, int]]
    errors: list[str]
    maps: dict[Canvas, Tensor] = field(default_factory=dict)
    map_names: Sequence[str] = ()


def slides(
    data: Dataset,
    shards: Sequence[range],
    canvases: Sequence[Canvas],
    threads: int,
    pinned: bool = False,
    map_names: Sequence[str] = (),
) -> Generator[Slides]:
    """The slides of each shard in turn; decoding runs AHEAD shards in front, in a pool of threads.

    `pinned` puts the images into memory from which a GPU copies without waiting; `map_names` are maps of the photos that are
    wanted beside their masks.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="decode")
    waiting: list[tuple[Slides, list[Future[None]]]] = []
    upcoming = iter(shards)
    try:
        while True:
            while len(waiting) < AHEAD and (shard := next(upcoming, None)) is not None:
                blank = _blank(data, shard, canvases, pinned, map_names)
                starts = range(0, len(shard), data.chunk)
                waiting.append((blank, [pool.submit(_fill, data, blank, start) for start in starts]))
            if not waiting:
                return
            filled, futures = waiting.pop(0)
            for future in futures:
                future.result()
            yield filled
    finally:  # never waits for the threads: the garbage collector may get here while it holds the locks they end with
        pool.shutdown(wait=False, cancel_futures=True)


def _blank(data: Dataset, shard: range, canvases: Sequence[Canvas], pinned: bool, map_names: Sequence[str]) -> Slides:
    """Empty slides, into which the threads of the pool write their parts."""
    count = len(shard)
    images = {c: torch.empty((count, 3, c.height, c.width), dtype=torch.uint8, pin_memory=pinned) for c in canvases}
    masked = canvases if "masks" in data.facts else ()
    boxed = canvases if "boxes" in data.facts else ()
    labelled = canvases if "labels" in data.facts else ()
    mapped = canvases if map_names else ()
    return Slides(
        shard,
        data.samples.keys[shard.start : shard.stop],
        images,
        {c: torch.zeros((count, c.height, c.width), dtype=torch.bool, pin_memory=pinned) for c in masked},
        {c: [np.zeros((0, 4))] * count for c in boxed},
        {c: torch.zeros((count, c.height, c.width), dtype=torch.int32, pin_memory=pinned) for c in labelled},
        [""] * count,
        [(0, 0)] * count,
        [""] * count,
        {c: torch.zeros((count, len(map_names), c.height, c.width), dtype=torch.int16) for c in mapped},
        map_names,
    )


def _fill(data: Dataset, slides: Slides, start: int) -> None:
    """Decode one chunk of a shard into its slides; the decoded photos, which may be large, are dropped at once."""
    positions = slides.positions[start : start + data.chunk]
    if data.read_together is not None and all(_as_they_are(data.size, canvas) for canvas in slides.images):
        _fill_together(data.read_together(positions), slides, start)
        return
    for row, photo in enumerate(data.read(positions), start):
        _fill_one(photo, slides, row)


def _fill_together(photos: Photos, slides: Slides, start: int) -> None:
    """Photos of the canvases' own size, all at once."""
    rows = slice(start, start + len(photos.images))
    for pixels in slides.images.values():
        pixels.numpy()[rows] = photos.images.transpose(0, 3, 1, 2)
    for masks in slides.masks.values():
        masks.numpy()[rows] = photos.maps["mask"]
    for maps in slides.maps.values():
        for number, name in enumerate(slides.map_names):
            maps.numpy()[rows, number] = photos.maps[name]
    for boxes in slides.boxes.values():
        if photos.boxes is not None:
            boxes[rows] = photos.boxes
    for label_maps in slides.label_maps.values():
        label_maps.numpy()[rows] = _numbered(photos.maps["labels"])
    slides.checksums[rows] = photos.checksums
    slides.sizes[rows] = [(photos.images.shape[1], photos.images.shape[2])] * len(photos.images)


def _fill_one(photo: Photo | Unreadable, slides: Slides, row: int) -> None:
    """One photo on each canvas, or the reason why it is missing."""
    if isinstance(photo, Unreadable):
        _blacken(slides, row, photo.reason)
        return
    slides.checksums[row] = photo.checksum
    slides.sizes[row] = photo.size
    try:
        for canvas, pixels in slides.images.items():
            rendering = render(photo, canvas)
            pixels.numpy()[row] = rendering.image
            if canvas in slides.masks:
                slides.masks[canvas].numpy()[row] = rendering.maps["mask"]
            for number, name in enumerate(slides.map_names):
                slides.maps[canvas].numpy()[row, number] = rendering.maps[name]
            if canvas in slides.boxes and rendering.boxes is not None:
                slides.boxes[canvas][row] = rendering.boxes
            if canvas in slides.label_maps and "labels" in rendering.maps:
                slides.label_maps[canvas].numpy()[row] = _numbered(rendering.maps["labels"])
    except Unshowable as error:
        _blacken(slides, row, str(error))


def _blacken(slides: Slides, row: int, reason: str) -> None:
    """Leave a row without its photo, with the reason."""
    slides.errors[row] = reason
    for pixels in slides.images.values():
        pixels[row] = 0


def _numbered(label_map: np.ndarray) -> np.ndarray:
    """Classes as class + 1, so that 0 is no label."""
    return np.where(label_map < 0, 0, label_map.astype(np.int32) + 1)


def _as_they_are(size: tuple[int, int] | None, canvas: Canvas) -> bool:
    """Whether photos of this size are shown on the canvas without scaling or cropping."""
    if size != (canvas.height, canvas.width):
        return False
    try:
        return placement(*size, canvas) == (size, (0, 0))
    except Unshowable:
        return False
