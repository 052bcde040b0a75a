"""Slides: a shard's images, decoded once and put on every canvas the models need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas, Rendered, render
from snellen.data.dataset import Dataset, Unreadable
from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Slides:
    """One shard: uint8 [n, 3, H, W] per canvas; an unreadable image is black there and has its reason in `errors`."""

    positions: range
    images: dict[Canvas, Tensor]
    masks: dict[Canvas, Tensor]
    boxes: dict[Canvas, list[np.ndarray]]
    checksums: list[str]
    sizes: list[tuple[int, int]]
    errors: list[str]


@dataclass(frozen=True)
class _Chunk:
    rendered: dict[Canvas, list[Rendered | None]]
    checksums: list[str]
    sizes: list[tuple[int, int]]
    errors: list[str]


def slides(
    data: Dataset, shards: Sequence[range], canvases: Sequence[Canvas], threads: int, ahead: int = 2
) -> Iterator[Slides]:
    """The slides of each shard in turn; decoding runs `ahead` shards in front, in a pool of threads."""
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="decode") as pool:
        waiting: list[tuple[range, list[Future[_Chunk]]]] = []
        upcoming = iter(shards)
        try:
            while True:
                while len(waiting) < ahead and (shard := next(upcoming, None)) is not None:
                    parts = [shard[i : i + data.chunk] for i in range(0, len(shard), data.chunk)]
                    waiting.append((shard, [pool.submit(_decode, data, part, canvases) for part in parts]))
                if not waiting:
                    return
                positions, futures = waiting.pop(0)
                yield _assembled(positions, [future.result() for future in futures], canvases, data)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _decode(data: Dataset, positions: Sequence[int], canvases: Sequence[Canvas]) -> _Chunk:
    """Decode some samples and render them; the decoded photos, which may be large, are dropped at once."""
    chunk = _Chunk({canvas: [] for canvas in canvases}, [], [], [])
    for photo in data.read(positions):
        problem = photo.reason if isinstance(photo, Unreadable) else ""
        made: dict[Canvas, Rendered | None] = dict.fromkeys(canvases)
        if not isinstance(photo, Unreadable):
            try:
                made = {canvas: render(photo, canvas) for canvas in canvases}
            except ValueError as error:
                problem = str(error)
        for canvas in canvases:
            chunk.rendered[canvas].append(made[canvas])
        chunk.checksums.append("" if isinstance(photo, Unreadable) else photo.checksum)
        chunk.sizes.append((0, 0) if isinstance(photo, Unreadable) else (photo.image.shape[0], photo.image.shape[1]))
        chunk.errors.append(problem)
    return chunk


def _assembled(positions: range, chunks: list[_Chunk], canvases: Sequence[Canvas], data: Dataset) -> Slides:
    images, masks, boxes = {}, {}, {}
    for canvas in canvases:
        listed = [one for chunk in chunks for one in chunk.rendered[canvas]]
        pixels = np.zeros((len(listed), 3, canvas.height, canvas.width), np.uint8)
        for row, one in enumerate(listed):
            if one is not None:
                pixels[row] = one.image
        images[canvas] = torch.from_numpy(pixels)
        if "masks" in data.facts:
            blank = np.zeros((canvas.height, canvas.width), bool)
            masks[canvas] = torch.from_numpy(np.stack([one.maps["mask"] if one else blank for one in listed]))
        if "boxes" in data.facts:
            none = np.zeros((0, 4))
            boxes[canvas] = [one.boxes if one is not None and one.boxes is not None else none for one in listed]
    return Slides(
        positions,
        images,
        masks,
        boxes,
        [c for chunk in chunks for c in chunk.checksums],
        [s for chunk in chunks for s in chunk.sizes],
        [e for chunk in chunks for e in chunk.errors],
    )
