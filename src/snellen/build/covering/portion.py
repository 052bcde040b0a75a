"""Some images of a build: put on the canvas, covered by every occluder, measured and written."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from snellen.atomic import write_atomic
from snellen.build.clarity import sharpness_of
from snellen.build.covering.settings import NONE, Settings
from snellen.build.png_file import encode_image, encode_mask
from snellen.build.portion_file import keep_rows, portion_file
from snellen.data.canvas import Rendered, Unshowable, render
from snellen.data.dataset import Photo, Unreadable
from snellen.data.occluders import Occluders, read_occluders
from snellen.distort import Distortion, View, show
from snellen.distort.occluders.lattice import Lattice
from snellen.distort.occluders.placing import Hidden
from snellen.lazy_torch import torch

IMAGES, MASKS, FULL_MASKS, COVERS = "images", "seg-masks", "full-masks", "covers"
UNREAD, EMPTY, UNFIT = "unreadable", "no object", "too small"
NO_PLACE, LITTLE, MUCH = "no place", "hidden too little", "hidden too much"
EVERY_TYPE = ""


@dataclass(frozen=True)
class Candidate:
    """An image to cover: its position in the dataset, id, split and folder, the name of its files, and the photo.

    `reason`, with `detail`, says why it is not to be taken.
    """

    row: int
    id: str
    split: str
    folder: str
    name: str
    photo: Photo | Unreadable | None = None
    reason: str = ""
    detail: str = ""

    def file(self, kind: str, type: str) -> str:
        """The path of the image of a type in the set, or of its mask in another folder; all types have one full mask."""
        parts = (kind, *(() if kind == FULL_MASKS else (type,)), self.split, self.folder, f"{self.name}.png")
        return "/".join(parts)


@dataclass(frozen=True)
class Portion:
    """Images that one process works on; what became of them is kept under its number."""

    number: int
    candidates: Sequence[Candidate]


@dataclass(frozen=True)
class Entry:
    """What became of the image at the position `row` of a split under the occluder `type` (all of them where it is empty).

    `reason` says with `detail` why there is no image. `object` and `hidden` count the pixels of the object, and those of them
    that are hidden; `covered` those of the whole image, which has `pixels`. `box` is around the object, x0, y0, x1, y1. `donor`
    is the cut-out that hides it, `source` the checksum of the photo.
    """

    row: int
    split: str
    type: str
    reason: str = ""
    detail: str = ""
    object: int = 0
    hidden: int = 0
    covered: int = 0
    pixels: int = 0
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    donor: str = ""
    source: str = ""

    @property
    def share(self) -> float:
        """The share of the object that is hidden; nan where there is none."""
        return self.hidden / self.object if self.object else float("nan")


def cover_portion(
    settings: Settings, kinds: Mapping[str, Distortion], part: Path, pool: Path, portion: Portion
) -> tuple[Portion, list[Entry]]:
    """Cover the images of a portion in every way, write them below `part`, and keep what became of them in `pool`."""
    entries: list[Entry] = []
    for one in portion.candidates:
        entries += _cover(one, settings, kinds, part)
    keep_rows(portion_file(pool, portion.number), entries)
    bare = [replace(one, photo=None) for one in portion.candidates]  # pixels need not travel back
    return replace(portion, candidates=bare), entries


def _cover(one: Candidate, settings: Settings, kinds: Mapping[str, Distortion], part: Path) -> list[Entry]:
    stage = _stage(one, settings)
    if isinstance(stage, Entry):
        return [stage]
    entries = []
    for type, distortion in kinds.items():
        entry, pixels, cover = _show(one, stage, type, distortion, settings)
        if not entry.reason:
            mask = stage.maps["mask"]
            write_atomic(part / one.file(IMAGES, type), encode_image(pixels))
            write_atomic(part / one.file(COVERS, type), encode_mask(cover))
            write_atomic(part / one.file(MASKS, type), encode_mask(mask & ~cover))
        entries.append(entry)
    write_atomic(part / one.file(FULL_MASKS, ""), encode_mask(stage.maps["mask"]))
    return entries


def _stage(one: Candidate, settings: Settings) -> Rendered | Entry:
    """The photo on the canvas, or why it is not taken at all."""
    reason, detail, photo = one.reason, one.detail, one.photo
    if not reason and not isinstance(photo, Photo):
        assert photo is not None
        reason, detail = UNREAD, photo.reason
    if reason or not isinstance(photo, Photo):
        return Entry(one.row, one.split, EVERY_TYPE, reason, detail)
    height, width = photo.size
    rendering = Rendered(np.ascontiguousarray(photo.image.transpose(2, 0, 1)), photo.boxes, dict(photo.maps))
    try:
        if settings.canvas is not None:
            rendering = render(photo, settings.canvas)
    except Unshowable as error:
        return Entry(one.row, one.split, EVERY_TYPE, UNREAD, str(error), source=photo.checksum)
    if settings.min_pixels or settings.min_sharpness:
        measured = rendering.image.transpose(1, 2, 0) if settings.resized else photo.image
        reason, detail = settings.clarity.refuse(height * width, sharpness_of(measured))
    mask = rendering.maps["mask"] != 0
    if not reason and not mask.any():
        lost = np.any(photo.maps["mask"])
        reason, detail = EMPTY, "its mask has no pixels" + (f" on the canvas {settings.canvas}" if lost else "")
    if reason:
        return Entry(one.row, one.split, EVERY_TYPE, reason, detail, source=photo.checksum)
    return replace(rendering, maps={"mask": mask})


def _show(
    one: Candidate, stage: Rendered, type: str, distortion: Distortion, settings: Settings
) -> tuple[Entry, np.ndarray, np.ndarray]:
    """The image under one occluder, uint8 [H, W, 3], the pixels that are covered, and what is known of it.

    The pixels are those that an audit shows of the same image on the same canvas, with the same seed.
    """
    assert isinstance(one.photo, Photo)
    mask = torch.from_numpy(stage.maps["mask"])[None]
    images = torch.from_numpy(stage.image)[None]
    height, width = mask.shape[1:]
    entry = Entry(one.row, one.split, type, box=_box(stage.maps["mask"]), source=one.photo.checksum)
    try:
        distortion.check_size(height, width)
    except ValueError as error:
        return replace(entry, reason=UNFIT, detail=str(error)), stage.image, stage.maps["mask"]
    view = View.of([one.id], settings.seed, masks=mask, occluders=_occluders(getattr(settings, "occluders", None)))
    pixels, cover = show(distortion, images, view)
    hidden_pixels = torch.zeros_like(mask) if cover is None else cover.to(torch.bool)
    counts = Hidden.under(hidden_pixels, mask)
    entry = replace(
        entry,
        object=int(counts.object[0]),
        hidden=int(counts.object_hidden[0]),
        covered=int(hidden_pixels.sum()),
        pixels=height * width,
        donor=str(view.notes["donor"][0]) if "donor" in view.notes else "",
    )
    if np.any(view.notes.get("excluded", False)):
        bounds = f"{100 * settings.least:g}–{100 * settings.most:g}% of the object"
        entry = replace(entry, reason=NO_PLACE, detail=f"no place of 100 draws is allowed, such as hiding {bounds}")
    elif type != NONE and not isinstance(distortion, Lattice):
        entry = _within(entry, counts, settings)
    return entry, pixels[0].permute(1, 2, 0).contiguous().numpy(), hidden_pixels[0].numpy()


def _within(entry: Entry, counts: Hidden, settings: Settings) -> Entry:
    """The entry, refused where the occluder hides less or more of the object than it may."""
    if counts.object_within(settings.least, settings.most)[0]:
        return entry
    little = entry.share < settings.least
    detail = f"{entry.share:.4%} of the object, {'less' if little else 'more'} than "
    detail += f"{100 * (settings.least if little else settings.most):g}%"
    return replace(entry, reason=LITTLE if little else MUCH, detail=detail)


def _box(mask: np.ndarray) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@functools.lru_cache(maxsize=1)
def _occluders(folder: str | None) -> Occluders | None:
    """The cut-outs of a folder, read once per process."""
    return None if folder is None else read_occluders(folder)
