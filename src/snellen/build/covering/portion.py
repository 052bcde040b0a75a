"""Some images of a build: put on the canvas, covered by every occluder, measured and written."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from snellen.atomic import write_atomic
from snellen.build.clarity import sharpness_of
from snellen.build.content import content_key, photo_content
from snellen.build.covering.request import NONE, CoverRequest
from snellen.build.encode import encode_image, encode_mask
from snellen.build.runner import Portion
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
class CoverTask:
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
class CoverVerdict:
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


def cover_content(occluders: str, portion: Portion[CoverTask]) -> str:
    """A key of the images of a portion, as they were read, and of the fingerprint of the cut-outs before them."""
    return content_key(occluders, [(replace(task, photo=None), photo_content(task.photo)) for task in portion.tasks])


def cover_portion(
    request: CoverRequest, kinds: Mapping[str, Distortion], part: Path, portion: Portion[CoverTask]
) -> list[CoverVerdict]:
    """Cover the images of a portion in every way, and write them below `part`."""
    return [verdict for task in portion.tasks for verdict in _cover(task, request, kinds, part)]


def _cover(task: CoverTask, request: CoverRequest, kinds: Mapping[str, Distortion], part: Path) -> list[CoverVerdict]:
    stage = _stage(task, request)
    if isinstance(stage, CoverVerdict):
        return [stage]
    verdicts = []
    for type, distortion in kinds.items():
        verdict, pixels, cover = _show(task, stage, type, distortion, request)
        if not verdict.reason:
            mask = stage.maps["mask"]
            write_atomic(part / task.file(IMAGES, type), encode_image(pixels))
            write_atomic(part / task.file(COVERS, type), encode_mask(cover))
            write_atomic(part / task.file(MASKS, type), encode_mask(mask & ~cover))
        verdicts.append(verdict)
    write_atomic(part / task.file(FULL_MASKS, ""), encode_mask(stage.maps["mask"]))
    return verdicts


def _stage(task: CoverTask, request: CoverRequest) -> Rendered | CoverVerdict:
    """The photo on the canvas, or why it is not taken at all."""
    reason, detail, photo = task.reason, task.detail, task.photo
    if not reason and not isinstance(photo, Photo):
        assert photo is not None
        reason, detail = UNREAD, photo.reason
    if reason or not isinstance(photo, Photo):
        return CoverVerdict(task.row, task.split, EVERY_TYPE, reason, detail)
    height, width = photo.size
    rendering = Rendered(np.ascontiguousarray(photo.image.transpose(2, 0, 1)), photo.boxes, dict(photo.maps))
    try:
        if request.canvas is not None:
            rendering = render(photo, request.canvas)
    except Unshowable as error:
        return CoverVerdict(task.row, task.split, EVERY_TYPE, UNREAD, str(error), source=photo.checksum)
    if request.min_pixels or request.min_sharpness:
        measured = rendering.image.transpose(1, 2, 0) if request.resized else photo.image
        reason, detail = request.clarity.refuse(height * width, sharpness_of(measured))
    mask = rendering.maps["mask"] != 0
    if not reason and not mask.any():
        lost = np.any(photo.maps["mask"])
        reason, detail = EMPTY, "its mask has no pixels" + (f" on the canvas {request.canvas}" if lost else "")
    if reason:
        return CoverVerdict(task.row, task.split, EVERY_TYPE, reason, detail, source=photo.checksum)
    return replace(rendering, maps={"mask": mask})


def _show(
    task: CoverTask, stage: Rendered, type: str, distortion: Distortion, request: CoverRequest
) -> tuple[CoverVerdict, np.ndarray, np.ndarray]:
    """The image under one occluder, uint8 [H, W, 3], the pixels that are covered, and what is known of it.

    The pixels are those that an audit shows of the same image on the same canvas, with the same seed.
    """
    assert isinstance(task.photo, Photo)
    mask = torch.from_numpy(stage.maps["mask"])[None]
    images = torch.from_numpy(stage.image)[None]
    height, width = mask.shape[1:]
    verdict = CoverVerdict(task.row, task.split, type, box=_box(stage.maps["mask"]), source=task.photo.checksum)
    try:
        distortion.check_size(height, width)
    except ValueError as error:
        return replace(verdict, reason=UNFIT, detail=str(error)), stage.image, stage.maps["mask"]
    view = View.of([task.id], request.seed, masks=mask, occluders=_occluders(getattr(request, "occluders", None)))
    pixels, cover = show(distortion, images, view)
    hidden_pixels = torch.zeros_like(mask) if cover is None else cover.to(torch.bool)
    counts = Hidden.under(hidden_pixels, mask)
    verdict = replace(
        verdict,
        object=int(counts.object[0]),
        hidden=int(counts.object_hidden[0]),
        covered=int(hidden_pixels.sum()),
        pixels=height * width,
        donor=str(view.notes["donor"][0]) if "donor" in view.notes else "",
    )
    if np.any(view.notes.get("excluded", False)):
        bounds = f"{100 * request.least:g}–{100 * request.most:g}% of the object"
        verdict = replace(verdict, reason=NO_PLACE, detail=f"no place of 100 draws is allowed, such as hiding {bounds}")
    elif type != NONE and not isinstance(distortion, Lattice):
        verdict = _within(verdict, counts, request)
    return verdict, pixels[0].permute(1, 2, 0).contiguous().numpy(), hidden_pixels[0].numpy()


def _within(verdict: CoverVerdict, counts: Hidden, request: CoverRequest) -> CoverVerdict:
    """The verdict, refused where the occluder hides less or more of the object than it may."""
    if counts.object_within(request.least, request.most)[0]:
        return verdict
    little = verdict.share < request.least
    detail = f"{verdict.share:.4%} of the object, {'less' if little else 'more'} than "
    detail += f"{100 * (request.least if little else request.most):g}%"
    return replace(verdict, reason=LITTLE if little else MUCH, detail=detail)


def _box(mask: np.ndarray) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@functools.lru_cache(maxsize=1)
def _occluders(folder: str | None) -> Occluders | None:
    """The cut-outs of a folder, read once per process."""
    return None if folder is None else read_occluders(folder)
