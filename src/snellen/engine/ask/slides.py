"""Slides: a shard's images, decoded once and put on every canvas the models need."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.data.readers import ReaderProcesses, readers_for
from snellen.data.sheet import PhotoSheet, Wanted, fill, no_facts
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

    Where many are wanted, each has a process that reads for it. `pinned` puts the images into memory from which a GPU copies
    without waiting; `map_names` are maps of the photos that are wanted beside their masks.
    """
    facts = data.facts
    wanted = Wanted(tuple(canvases), "masks" in facts, "boxes" in facts, "labels" in facts, tuple(map_names))
    readers = readers_for(data, wanted, threads, sum(map(len, shards)))
    pool = ThreadPoolExecutor(max_workers=readers.threads(threads), thread_name_prefix="decode")
    waiting: list[tuple[Slides, list[Future[None]]]] = []
    upcoming = iter(shards)
    with closing(readers):
        try:
            while True:
                while len(waiting) < AHEAD and (shard := next(upcoming, None)) is not None:
                    blank = _blank(data, shard, wanted, pinned)
                    starts = range(0, len(shard), data.chunk)
                    waiting.append((blank, [pool.submit(_fill, data, readers, wanted, blank, s) for s in starts]))
                if not waiting:
                    return
                filled, futures = waiting.pop(0)
                for future in futures:
                    future.result()
                yield filled
        finally:  # never waits for the threads: the garbage collector may get here while it holds the locks they end with
            pool.shutdown(wait=False, cancel_futures=True)


def _blank(data: Dataset, shard: range, wanted: Wanted, pinned: bool) -> Slides:
    """Empty slides, into which the threads of the pool write their parts."""
    count, canvases, names = len(shard), wanted.canvases, wanted.map_names
    images = {c: torch.empty((count, 3, c.height, c.width), dtype=torch.uint8, pin_memory=pinned) for c in canvases}
    masked = canvases if wanted.masks else ()
    labelled = canvases if wanted.labels else ()
    mapped = canvases if names else ()
    facts = no_facts(wanted, count)
    return Slides(
        shard,
        data.samples.keys[shard.start : shard.stop],
        images,
        {c: torch.zeros((count, c.height, c.width), dtype=torch.bool, pin_memory=pinned) for c in masked},
        facts.boxes,
        {c: torch.zeros((count, c.height, c.width), dtype=torch.int32, pin_memory=pinned) for c in labelled},
        facts.checksums,
        facts.sizes,
        facts.errors,
        {c: torch.zeros((count, len(names), c.height, c.width), dtype=torch.int16) for c in mapped},
        names,
    )


def _fill(data: Dataset, readers: ReaderProcesses, wanted: Wanted, slides: Slides, start: int) -> None:
    """Decode one chunk of a shard into its slides."""
    positions = slides.positions[start : start + data.chunk]
    rows = slice(start, start + len(positions))
    sheet = _part(slides, wanted, rows)
    if not readers.fill(positions, sheet):
        fill(data, positions, sheet)
    facts = sheet.facts
    slides.checksums[rows], slides.sizes[rows], slides.errors[rows] = facts.checksums, facts.sizes, facts.errors
    for canvas, boxes in facts.boxes.items():
        slides.boxes[canvas][rows] = boxes


def _part(slides: Slides, wanted: Wanted, rows: slice) -> PhotoSheet:
    """Some rows of slides as a sheet, which shares their memory."""

    def part(kind: dict[Canvas, Tensor]) -> dict[Canvas, np.ndarray]:
        return {canvas: values[rows].numpy() for canvas, values in kind.items()}

    facts = no_facts(wanted, rows.stop - rows.start)
    return PhotoSheet(
        wanted, part(slides.images), part(slides.masks), part(slides.label_maps), part(slides.maps), facts
    )
