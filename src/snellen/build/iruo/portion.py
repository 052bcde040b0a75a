"""Some frames of a build: decoded once, every chosen instance cut out of them, and measured."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from snellen.atomic import write_atomic
from snellen.build.content import content_key, file_content
from snellen.build.iruo.request import IruoRequest
from snellen.build.runner import Portion
from snellen.data.dataset import Photo, Unreadable
from snellen.data.ovis.adapter import read_frame
from snellen.data.ovis.clips import Appearance, Frame
from snellen.data.ovis.crop import crop_box, cut
from snellen.data.ovis.levels import UNKNOWN, level_of
from snellen.data.segmentation import mask_of
from snellen.errors import UserError

ENDINGS = {"jpeg": "jpg", "png": "png"}
MASK, FULL = "mask.png", "full.png"
OccluderName = Literal["none", "same_class", "other_class", "unknown"]


@dataclass(frozen=True)
class FrameTask:
    """A frame, its file, and all instances in it by their positions in the listing; `chosen` are those to cut out."""

    frame: Frame
    path: Path
    appearances: Mapping[int, Appearance]
    chosen: Sequence[int]


@dataclass(frozen=True)
class CropVerdict:
    """What became of the appearance at the position `row`: why it is not taken ("" where it is), and what is known of it.

    `level` is what counts, `stated` and `measured` where it may come from (UNKNOWN for none); `hidden` the share of its pixels
    that is hidden. `occluder` is the instance that hides most of it, of the class `occluder_class`. `crop` is what was cut out of
    the frame and `box` the object in the crop, x0, y0, x1, y1 in pixels. `visible` and `full` say which masks there are, `source`
    is the checksum of the frame's file.
    """

    row: int
    reason: str = ""
    detail: str = ""
    level: int = UNKNOWN
    stated: int = UNKNOWN
    measured: int = UNKNOWN
    hidden: float | None = None
    type: OccluderName = "unknown"
    occluder: int | None = None
    occluder_class: str = ""
    crop: tuple[int, int, int, int] = (0, 0, 0, 0)
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    visible: bool = False
    full: bool = False
    source: str = ""


def crop_files(pool: Path, number: int, row: int, request: IruoRequest) -> tuple[Path, Path, Path]:
    """Where an image, its mask and its full mask are until the split is known."""
    folder = pool / f"{number:06d}"
    return folder / f"{row}.{ENDINGS[request.format]}", folder / f"{row}.{MASK}", folder / f"{row}.{FULL}"


def frames_content(portion: Portion[FrameTask]) -> str:
    """A key of the frames of a portion, as their files are now, and of all that is annotated in them."""
    return content_key(
        [(task.frame, dict(task.appearances), list(task.chosen), file_content(task.path)) for task in portion.tasks]
    )


def cut_out(request: IruoRequest, pool: Path, portion: Portion[FrameTask]) -> list[CropVerdict]:
    """Cut the chosen instances out of the frames of a portion; their crops go into a folder of its number."""
    verdicts: list[CropVerdict] = []
    for task in portion.tasks:
        photo = read_frame(task.frame, task.path)
        if isinstance(photo, Unreadable):
            reason, detail = photo.sort, f"{task.frame.file}: {photo.reason}"
            verdicts += [CropVerdict(row, reason, detail) for row in task.chosen]
            continue
        masks = _masks(task, photo)
        for row in task.chosen:
            verdict = replace(_judge(row, task, photo, masks, request), source=photo.checksum)
            if not verdict.reason:
                _write(verdict, photo, masks, crop_files(pool, portion.number, row, request), request)
            verdicts.append(verdict)
    return verdicts


@dataclass(frozen=True)
class Hiding:
    """Pixels of an object that are hidden, of all its pixels inside the frame; the instance that hides most of them (None where
    no annotated one hides any) and how many of them it hides."""

    hidden: int
    full: int
    occluder: int | None
    covered: int

    @property
    def share(self) -> float:
        """The share of the object that is hidden."""
        return self.hidden / self.full


def measure_hiding(instance: int, full: np.ndarray, visible: Mapping[int, np.ndarray]) -> Hiding:
    """How an instance is hidden, from its full mask and the visible masks [H, W] of all instances in the frame.

    Visible masks of others that lie on its hidden pixels are in front of it. Of equals the first is the occluder.
    """
    behind = full & ~visible[instance]
    pixels, hidden = int(full.sum()), int(behind.sum())
    rows, columns = np.flatnonzero(behind.any(1)), np.flatnonzero(behind.any(0))
    occluder, covered = None, 0
    if hidden:
        window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        for other, mask in visible.items():
            overlap = 0 if other == instance else int((mask[window] & behind[window]).sum())
            if overlap > covered:
                occluder, covered = other, overlap
    return Hiding(hidden, pixels, occluder, covered)


@dataclass(frozen=True)
class _Masks:
    """Visible and full masks of a frame by position; `broken` says why there is none for some."""

    visible: dict[int, np.ndarray]
    full: dict[int, np.ndarray]
    broken: dict[int, str]


def _masks(task: FrameTask, photo: Photo) -> _Masks:
    """The masks that are needed: of the chosen, and of others only where they may be what hides one of them."""
    height, width = photo.size
    masks = _Masks({}, {}, {})
    hiding = any(task.appearances[row].full for row in task.chosen)
    for row, appearance in task.appearances.items():
        if row not in task.chosen and not hiding:
            continue
        try:
            if appearance.visible:
                masks.visible[row] = mask_of(appearance.visible, width, height)
            if appearance.full and row in task.chosen:
                masks.full[row] = mask_of(appearance.full, width, height)
        except UserError as error:
            masks.broken[row] = str(error)
    return masks


def _judge(row: int, task: FrameTask, photo: Photo, masks: _Masks, request: IruoRequest) -> CropVerdict:
    """What is known of an instance in a frame, or why it is not taken."""
    appearance = task.appearances[row]
    if appearance.reason:
        return CropVerdict(row, appearance.reason, appearance.detail)
    if row in masks.broken:
        return CropVerdict(row, "broken mask", masks.broken[row])
    height, width = photo.size
    crop = crop_box(appearance.box, width, height, request.margin, clip=not request.pad)
    if not crop[2]:
        return CropVerdict(row, "box outside", f"its box does not meet the frame of {width}x{height} pixels")
    for name, some in (("mask", masks.visible), ("full mask", masks.full)):
        if row in some and not some[row].any():
            return CropVerdict(row, "empty mask", f"its {name} has no pixels")
    x, y, wide, high = appearance.box
    across, down = _scale(crop, request.size)
    left, top = (x - crop[0]) * across, (y - crop[1]) * down
    box = (left, top, left + wide * across, top + high * down)
    verdict = CropVerdict(row, stated=appearance.level, crop=crop, box=box)
    verdict = replace(verdict, visible=row in masks.visible, full=row in masks.full)
    verdict = _measured(verdict, task, masks, request)
    if verdict.level == UNKNOWN:
        return CropVerdict(row, "no level", "it states no level, and has no full and visible mask to measure one")
    return replace(verdict, type="none") if verdict.level == 0 else verdict


def _measured(verdict: CropVerdict, task: FrameTask, masks: _Masks, request: IruoRequest) -> CropVerdict:
    """The verdict with its level and occluder."""
    if not (verdict.visible and verdict.full):
        return replace(verdict, level=verdict.stated)
    hiding = measure_hiding(verdict.row, masks.full[verdict.row], masks.visible)
    measured = level_of(hiding.hidden, hiding.full, request.tolerance)
    stated_counts = request.levels == "stated" and verdict.stated != UNKNOWN
    verdict = replace(
        verdict, level=verdict.stated if stated_counts else measured, measured=measured, hidden=hiding.share
    )
    if hiding.occluder is None:
        return verdict
    own, other = task.appearances[verdict.row], task.appearances[hiding.occluder]
    type: OccluderName = "same_class" if own.category == other.category else "other_class"
    return replace(verdict, type=type, occluder=other.instance, occluder_class=other.category)


def _scale(crop: tuple[int, int, int, int], size: int) -> tuple[float, float]:
    """By how much a crop grows in width and in height."""
    return (size / (crop[2] - crop[0]), size / (crop[3] - crop[1])) if size else (1, 1)


def _write(
    verdict: CropVerdict, photo: Photo, masks: _Masks, files: tuple[Path, Path, Path], request: IruoRequest
) -> None:
    image, visible, full = files
    write_atomic(image, _encode(_scaled(cut(photo.image, verdict.crop), request.size), request))
    if verdict.visible:
        write_atomic(visible, _encode_mask(cut(masks.visible[verdict.row], verdict.crop), request.size))
    if verdict.full:
        write_atomic(full, _encode_mask(cut(masks.full[verdict.row], verdict.crop), request.size))


def _scaled(pixels: np.ndarray, size: int) -> Image.Image:
    """The picture; where a size is given scaled to it, bilinearly, or a mask by its nearest pixels."""
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    filter = Image.Resampling.NEAREST if pixels.ndim == 2 else Image.Resampling.BILINEAR
    return picture.resize((size, size), filter) if size else picture


def _encode(picture: Image.Image, request: IruoRequest) -> bytes:
    content = io.BytesIO()
    picture.save(content, request.format.upper(), quality=request.quality)
    return content.getvalue()


def _encode_mask(mask: np.ndarray, size: int) -> bytes:
    content = io.BytesIO()
    _scaled(mask.astype(np.uint8) * 255, size).save(content, "PNG")
    return content.getvalue()
