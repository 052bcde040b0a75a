"""Some frames of a build: decoded once, every chosen instance cut out of them, and measured."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.atomic import write_atomic
from snellen.build.iruo.measuring import measure_hiding
from snellen.build.iruo.settings import Settings
from snellen.build.iruo.verdict import Type, Verdict
from snellen.build.portion_file import keep_rows, portion_file
from snellen.data.dataset import Photo, Unreadable
from snellen.data.ovis.adapter import read_frame
from snellen.data.ovis.clips import Appearance, Frame
from snellen.data.ovis.crop import crop_box, cut
from snellen.data.ovis.levels import UNKNOWN, level_of
from snellen.data.segmentation import mask_of
from snellen.errors import UserError

ENDINGS = {"jpeg": "jpg", "png": "png"}
MASK, FULL = "mask.png", "full.png"


@dataclass(frozen=True)
class FrameTask:
    """A frame, its file, and all instances in it by their positions in the listing; `chosen` are those to cut out."""

    frame: Frame
    path: Path
    appearances: Mapping[int, Appearance]
    chosen: Sequence[int]


@dataclass(frozen=True)
class Portion:
    """Frames that one process works on; their verdicts are kept under its number, their crops in a folder of that name."""

    number: int
    frames: Sequence[FrameTask]


def crop_files(pool: Path, number: int, row: int, settings: Settings) -> tuple[Path, Path, Path]:
    """Where an image, its mask and its full mask are until the split is known."""
    folder = pool / f"{number:06d}"
    return folder / f"{row}.{ENDINGS[settings.format]}", folder / f"{row}.{MASK}", folder / f"{row}.{FULL}"


def cut_out(settings: Settings, pool: Path, portion: Portion) -> tuple[Portion, list[Verdict]]:
    """Cut the chosen instances out of the frames of a portion, and keep what became of them."""
    verdicts: list[Verdict] = []
    for task in portion.frames:
        photo = read_frame(task.frame, task.path)
        if isinstance(photo, Unreadable):
            reason, detail = photo.sort, f"{task.frame.file}: {photo.reason}"
            verdicts += [Verdict(row, reason, detail) for row in task.chosen]
            continue
        masks = _masks(task, photo)
        for row in task.chosen:
            verdict = _judge(row, task, photo, masks, settings)
            if not verdict.reason:
                _write(verdict, photo, masks, crop_files(pool, portion.number, row, settings), settings)
            verdicts.append(verdict)
    keep_rows(portion_file(pool, portion.number), verdicts)
    return portion, verdicts


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
    for row, one in task.appearances.items():
        if row not in task.chosen and not hiding:
            continue
        try:
            if one.visible:
                masks.visible[row] = mask_of(one.visible, width, height)
            if one.full and row in task.chosen:
                masks.full[row] = mask_of(one.full, width, height)
        except UserError as error:
            masks.broken[row] = str(error)
    return masks


def _judge(row: int, task: FrameTask, photo: Photo, masks: _Masks, settings: Settings) -> Verdict:
    """What is known of an instance in a frame, or why it is not taken."""
    one = task.appearances[row]
    if one.reason:
        return Verdict(row, one.reason, one.detail)
    if row in masks.broken:
        return Verdict(row, "broken mask", masks.broken[row])
    height, width = photo.size
    crop = crop_box(one.box, width, height, settings.margin, clip=not settings.pad)
    if not crop[2]:
        return Verdict(row, "box outside", f"its box does not meet the frame of {width}x{height} pixels")
    for name, some in (("mask", masks.visible), ("full mask", masks.full)):
        if row in some and not some[row].any():
            return Verdict(row, "empty mask", f"its {name} has no pixels")
    x, y, wide, high = one.box
    across, down = _scale(crop, settings.size)
    left, top = (x - crop[0]) * across, (y - crop[1]) * down
    box = (left, top, left + wide * across, top + high * down)
    verdict = Verdict(row, stated=one.level, crop=crop, box=box, source=photo.checksum)
    verdict = replace(verdict, visible=row in masks.visible, full=row in masks.full)
    verdict = _measured(verdict, task, masks, settings)
    if verdict.level == UNKNOWN:
        return Verdict(row, "no level", "it states no level, and has no full and visible mask to measure one")
    return replace(verdict, type="none") if verdict.level == 0 else verdict


def _measured(verdict: Verdict, task: FrameTask, masks: _Masks, settings: Settings) -> Verdict:
    """The verdict with its level and occluder."""
    if not (verdict.visible and verdict.full):
        return replace(verdict, level=verdict.stated)
    hiding = measure_hiding(verdict.row, masks.full[verdict.row], masks.visible)
    measured = level_of(hiding.hidden, hiding.full, settings.tolerance)
    stated_counts = settings.levels == "stated" and verdict.stated != UNKNOWN
    verdict = replace(
        verdict, level=verdict.stated if stated_counts else measured, measured=measured, hidden=hiding.share
    )
    if hiding.occluder is None:
        return verdict
    own, other = task.appearances[verdict.row], task.appearances[hiding.occluder]
    type: Type = "same_class" if own.category == other.category else "other_class"
    return replace(verdict, type=type, occluder=other.instance, occluder_class=other.category)


def _scale(crop: tuple[int, int, int, int], size: int) -> tuple[float, float]:
    """By how much a crop grows in width and in height."""
    return (size / (crop[2] - crop[0]), size / (crop[3] - crop[1])) if size else (1, 1)


def _write(verdict: Verdict, photo: Photo, masks: _Masks, files: tuple[Path, Path, Path], settings: Settings) -> None:
    image, visible, full = files
    write_atomic(image, _encode(_scaled(cut(photo.image, verdict.crop), settings.size), settings))
    if verdict.visible:
        write_atomic(visible, _encode_mask(cut(masks.visible[verdict.row], verdict.crop), settings.size))
    if verdict.full:
        write_atomic(full, _encode_mask(cut(masks.full[verdict.row], verdict.crop), settings.size))


def _scaled(pixels: np.ndarray, size: int) -> Image.Image:
    """The picture; where a size is given scaled to it, bilinearly, or a mask by its nearest pixels."""
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    filter = Image.Resampling.NEAREST if pixels.ndim == 2 else Image.Resampling.BILINEAR
    return picture.resize((size, size), filter) if size else picture


def _encode(picture: Image.Image, settings: Settings) -> bytes:
    content = io.BytesIO()
    picture.save(content, settings.format.upper(), quality=settings.quality)
    return content.getvalue()


def _encode_mask(mask: np.ndarray, size: int) -> bytes:
    content = io.BytesIO()
    _scaled(mask.astype(np.uint8) * 255, size).save(content, "PNG")
    return content.getvalue()
