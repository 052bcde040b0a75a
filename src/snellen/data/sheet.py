"""A sheet: a few photos on every canvas the models need, as arrays that are filled here or in another process."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.data.canvas import Canvas, Unshowable, placement, render
from snellen.data.dataset import Dataset, Photo, Photos, Unreadable


@dataclass(frozen=True)
class Wanted:
    """What is to be known of every photo: it on these canvases, and which of its maps and boxes."""

    canvases: tuple[Canvas, ...]
    masks: bool = False
    boxes: bool = False
    labels: bool = False
    map_names: tuple[str, ...] = ()


@dataclass
class PhotoFacts:
    """What is known of the photos beside their pixels; one that cannot be shown has its reason in `errors`."""

    checksums: list[str]
    sizes: list[tuple[int, int]]
    errors: list[str]
    boxes: dict[Canvas, list[np.ndarray]]


@dataclass
class PhotoSheet:
    """Arrays of n rows for each canvas: uint8 images [n, 3, H, W], bool masks and int32 label maps [n, H, W] (class + 1, and 0
    for no label), further maps int16 [n, maps, H, W]."""

    wanted: Wanted
    images: dict[Canvas, np.ndarray]
    masks: dict[Canvas, np.ndarray]
    label_maps: dict[Canvas, np.ndarray]
    maps: dict[Canvas, np.ndarray]
    facts: PhotoFacts

    def first(self, count: int) -> PhotoSheet:
        """The first rows, with nothing on them."""
        images, masks, label_maps, maps = (
            {canvas: array[:count] for canvas, array in kind.items()}
            for kind in (self.images, self.masks, self.label_maps, self.maps)
        )
        for kind in (masks, label_maps, maps):  # an image is written whole, or blackened
            for array in kind.values():
                array[:] = 0
        return PhotoSheet(self.wanted, images, masks, label_maps, maps, no_facts(self.wanted, count))

    def arrays(self) -> Iterator[np.ndarray]:
        """All arrays, in an order that is that of every sheet."""
        for kind in (self.images, self.masks, self.label_maps, self.maps):
            yield from kind.values()


def no_facts(wanted: Wanted, count: int) -> PhotoFacts:
    """The facts of so many photos of which nothing is known yet."""
    boxes = {canvas: [np.zeros((0, 4))] * count for canvas in (wanted.canvases if wanted.boxes else ())}
    return PhotoFacts([""] * count, [(0, 0)] * count, [""] * count, boxes)


def bytes_of(wanted: Wanted, count: int) -> int:
    """How much memory the arrays of so many rows take."""
    pixels = sum(canvas.height * canvas.width for canvas in wanted.canvases)
    return count * pixels * (3 + wanted.masks + 4 * wanted.labels + 2 * len(wanted.map_names))


def sheet_in(memory: bytearray | mmap.mmap, wanted: Wanted, count: int) -> PhotoSheet:
    """A sheet of so many rows whose arrays lie in this memory."""
    place = 0

    def take(dtype: type, needed: object, *planes: int) -> dict[Canvas, np.ndarray]:
        nonlocal place
        arrays = {}
        for canvas in wanted.canvases if needed else ():
            arrays[canvas] = np.ndarray((count, *planes, canvas.height, canvas.width), dtype, memory, place)
            place += arrays[canvas].nbytes
        return arrays

    label_maps, names = take(np.int32, wanted.labels), wanted.map_names  # the widest first: each begins where it may
    maps = take(np.int16, names, len(names))
    return PhotoSheet(
        wanted, take(np.uint8, True, 3), take(bool, wanted.masks), label_maps, maps, no_facts(wanted, count)
    )


def fill(data: Dataset, positions: Sequence[int], sheet: PhotoSheet) -> None:
    """Read the samples at these positions; the decoded photos, which may be large, are dropped at once."""
    if data.read_together is not None and all(_as_they_are(data.size, canvas) for canvas in sheet.images):
        _fill_together(data.read_together(positions), sheet)
        return
    for row, photo in enumerate(data.read(positions)):
        _fill_one(photo, sheet, row)


def _fill_together(photos: Photos, sheet: PhotoSheet) -> None:
    """Photos of the canvases' own size, all at once."""
    for pixels in sheet.images.values():
        pixels[:] = photos.images.transpose(0, 3, 1, 2)
    for masks in sheet.masks.values():
        masks[:] = photos.maps["mask"]
    for maps in sheet.maps.values():
        for number, name in enumerate(sheet.wanted.map_names):
            maps[:, number] = photos.maps[name]
    for label_maps in sheet.label_maps.values():
        label_maps[:] = _numbered(photos.maps["labels"])
    facts, count = sheet.facts, len(photos.images)
    if photos.boxes is not None:
        facts.boxes = {canvas: list(photos.boxes) for canvas in facts.boxes}
    facts.checksums = list(photos.checksums)
    facts.sizes = [(photos.images.shape[1], photos.images.shape[2])] * count


def _fill_one(photo: Photo | Unreadable, sheet: PhotoSheet, row: int) -> None:
    """One photo on each canvas, or the reason why it is missing."""
    if isinstance(photo, Unreadable):
        _blacken(sheet, row, photo.reason)
        return
    facts = sheet.facts
    facts.checksums[row] = photo.checksum
    facts.sizes[row] = photo.size
    try:
        for canvas, pixels in sheet.images.items():
            rendering = render(photo, canvas)
            pixels[row] = rendering.image
            if canvas in sheet.masks:
                sheet.masks[canvas][row] = rendering.maps["mask"]
            for number, name in enumerate(sheet.wanted.map_names):
                sheet.maps[canvas][row, number] = rendering.maps[name]
            if canvas in facts.boxes and rendering.boxes is not None:
                facts.boxes[canvas][row] = rendering.boxes
            if canvas in sheet.label_maps and "labels" in rendering.maps:
                sheet.label_maps[canvas][row] = _numbered(rendering.maps["labels"])
    except Unshowable as error:
        _blacken(sheet, row, str(error))


def _blacken(sheet: PhotoSheet, row: int, reason: str) -> None:
    """Leave a row without its photo, with the reason."""
    sheet.facts.errors[row] = reason
    for pixels in sheet.images.values():
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
