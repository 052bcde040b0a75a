"""One object: cut out of its photo along its mask, or why it is not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from snellen.atomic import write_atomic
from snellen.build.content import content_key, photo_content
from snellen.build.encode import encode_image
from snellen.build.occluders.request import OccludersRequest
from snellen.build.runner import Portion
from snellen.data.dataset import Photo, Unreadable

UNREAD, EMPTY, SMALL, CUT = "unreadable", "no object", "too few pixels", "touches the border"
EDGE = 1  # pixel of transparency around it: a reader refuses cut-outs that have none


@dataclass(frozen=True)
class CutTask:
    """An object to cut out: its position in the dataset, its photo, and its file in the folder."""

    row: int
    photo: Photo | Unreadable | None
    file: str


@dataclass(frozen=True)
class CutVerdict:
    """What became of the object at the position `row`: why it was not cut out, or its pixels, width and height."""

    row: int
    reason: str = ""
    detail: str = ""
    pixels: int = 0
    width: int = 0
    height: int = 0
    source: str = ""


def cut_content(portion: Portion[CutTask]) -> str:
    """A key of the objects of a portion, as they were read."""
    return content_key([(task.row, task.file, photo_content(task.photo)) for task in portion.tasks])


def cut_objects(request: OccludersRequest, part: Path, portion: Portion[CutTask]) -> list[CutVerdict]:
    """Cut the objects of a portion out, and write them below `part`."""
    cuts = []
    for task in portion.tasks:
        cut, rgba = _cut(task, request)
        if rgba is not None:
            write_atomic(part / task.file, encode_image(rgba))
        cuts.append(cut)
    return cuts


def _cut(task: CutTask, request: OccludersRequest) -> tuple[CutVerdict, np.ndarray | None]:
    photo, row = task.photo, task.row
    assert photo is not None
    if isinstance(photo, Unreadable):
        return CutVerdict(row, UNREAD, photo.reason), None
    mask = np.asarray(photo.maps["mask"]) != 0
    if mask.shape != photo.size:
        return CutVerdict(row, UNREAD, f"its mask is {mask.shape}, the image {photo.size}"), None
    pixels = int(mask.sum())
    if not pixels:
        return CutVerdict(row, EMPTY, "its mask has no pixels", source=photo.checksum), None
    if pixels < request.min_pixels:
        return CutVerdict(
            row, SMALL, f"{pixels:,} pixels, fewer than {request.min_pixels:,}", pixels, source=photo.checksum
        ), None
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    ends = (rows[0], columns[0], mask.shape[0] - 1 - rows[-1], mask.shape[1] - 1 - columns[-1])
    if request.whole and min(ends) == 0:
        return CutVerdict(
            row, CUT, "a part of it may be outside; take such with --no-whole", pixels, source=photo.checksum
        ), None
    window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    rgba = cut_out(photo.image[window], mask[window])
    return CutVerdict(row, pixels=pixels, width=rgba.shape[1], height=rgba.shape[0], source=photo.checksum), rgba


def cut_out(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """uint8 [h + 2, w + 2, 4]: the pixels of a mask, transparent black around them."""
    rgba = np.concatenate([image, np.full((*mask.shape, 1), 255, np.uint8)], 2) * mask[:, :, None]
    return np.pad(rgba, [(EDGE, EDGE), (EDGE, EDGE), (0, 0)])
