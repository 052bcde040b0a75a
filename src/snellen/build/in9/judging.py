"""One image: whether it may be in the set, by the published filters, and how it looks on the canvas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from snellen.build.content import content_key, photo_content
from snellen.build.in9.curation import Mend
from snellen.build.in9.pool import In9Verdict, keep_image, keep_refusal
from snellen.build.in9.request import In9Request
from snellen.build.in9.segment import segment_object
from snellen.data.canvas import Unshowable, placement, render
from snellen.data.dataset import Photo, Unreadable
from snellen.distort.strips import rectangles
from snellen.files import read_bytes
from snellen.files.plain import place_here
from snellen.hashing import checksum

_OUTSIDE = (
    1.0  # pixels that a box may reach out of the image: annotations that count from 0 and from 1 are mixed up often
)


@dataclass(frozen=True)
class In9Candidate:
    """An image to judge: its id in the data, the name of its files, and the photo, or why there is none.

    `annotated` is whether it has an annotation, `classed` whether its class is known, `mend` what people changed of it.
    """

    source: str
    name: str
    photo: Photo | Unreadable
    annotated: bool = True
    classed: bool = True
    mend: Mend | None = None


def candidate_content(candidate: In9Candidate, request: In9Request) -> str:
    """A key of an image as it was read, and of the program that makes its mask, if one does."""
    facts = (candidate.source, candidate.name, candidate.annotated, candidate.classed)
    mend = () if candidate.mend is None else candidate.mend.content
    return content_key(facts, photo_content(candidate.photo), _mask_program(request.masks or ""), *mend)


@cache
def _mask_program(masks: str) -> str:
    """The checksum of the file that `python:file.py:factory` names."""
    place = masks.removeprefix("python:").rpartition(":")[0]
    return (
        checksum(read_bytes(place_here(place, "code"), "mask model"))
        if masks.startswith("python:") and place.endswith(".py")
        else ""
    )


class _Refusal(Exception):
    """Why an image may not be in the set: a reason and its details."""


def judge(candidate: In9Candidate, request: In9Request, pool: Path) -> In9Verdict:
    """Judge an image and keep the outcome in the folder `pool`: NAME.npz where it is accepted, NAME.json where not."""
    photo, content = candidate.photo, candidate_content(candidate, request)
    try:
        verdict, image, mask = _look(candidate, request)
    except (_Refusal, Unshowable) as refusal:
        reason, detail = refusal.args if isinstance(refusal, _Refusal) else ("unreadable", str(refusal))
        source = "" if isinstance(photo, Unreadable) else photo.checksum
        verdict = In9Verdict(candidate.source, candidate.name, reason, detail, checksum=source, content=content)
        keep_refusal(pool, verdict)
        return verdict
    verdict = replace(verdict, content=content)
    keep_image(pool, verdict, image, mask)
    return verdict


def _look(candidate: In9Candidate, request: In9Request) -> tuple[In9Verdict, np.ndarray, np.ndarray]:
    """The verdict, the image and the mask of an image that is taken."""
    photo = candidate.photo
    if isinstance(photo, Unreadable):
        raise _Refusal(photo.sort, photo.reason)
    if request.all_images and candidate.classed:
        verdict = In9Verdict(candidate.source, candidate.name, checksum=photo.checksum)
        return verdict, render(Photo(photo.pixels, ""), request.canvas).image, np.zeros((0, 0), bool)
    return _accept(candidate, photo, request)


def _accept(candidate: In9Candidate, photo: Photo, request: In9Request) -> tuple[In9Verdict, np.ndarray, np.ndarray]:
    """The verdict, the image uint8 [3, S, S] and the mask bool [S, S] on the canvas."""
    box = _only_box(photo, candidate.annotated)
    corners, mend = _on_canvas(box, photo, request), candidate.mend or Mend()
    if mend.mask is not None:
        image, object_, seed = render(Photo(photo.pixels, ""), request.canvas).image, mend.mask, -1
    else:
        mask, seed = _mask(box, candidate, photo, request)
        rendering = render(Photo(photo.pixels, "", box[None], {"mask": mask}), request.canvas)
        image, object_ = rendering.image, rendering.maps["mask"]
    if not object_.any():
        raise _Refusal("cropped away", "no pixel of the object is in the crop")
    share = float(object_.mean())
    return (
        In9Verdict(candidate.source, candidate.name, "", "", mend.box or corners, share, seed, photo.checksum),
        image,
        object_,
    )


def _only_box(photo: Photo, annotated: bool) -> np.ndarray:
    """float [4]: the image's only box, inside the image."""
    boxes = np.zeros((0, 4)) if photo.boxes is None else photo.boxes
    height, width = photo.size
    if not len(boxes):
        raise (
            _Refusal("no box", "its annotation has no object")
            if annotated
            else _Refusal("no annotation", "there is no annotation of it")
        )
    if len(boxes) > 1:
        raise _Refusal("several boxes", f"{len(boxes)} boxes")
    x0, y0, x1, y1 = boxes[0]
    where = f"{x0:g}, {y0:g} to {x1:g}, {y1:g} in {width}x{height}"
    if not (x1 > x0 and y1 > y0):
        raise _Refusal("box without area", where)
    if min(x0, y0) < -_OUTSIDE or x1 > width + _OUTSIDE or y1 > height + _OUTSIDE:
        raise _Refusal("box outside the image", where)
    inside = np.clip(boxes[0], 0, [width, height, width, height])
    if not (inside[2:] > inside[:2]).all():
        raise _Refusal("box outside the image", where)
    return inside


def _on_canvas(box: np.ndarray, photo: Photo, request: In9Request) -> tuple[int, ...]:
    """The box on the canvas in whole pixels, if the crop leaves enough of it and it leaves enough of the crop."""
    canvas, (height, width) = request.canvas, photo.size
    target, offset = placement(height, width, canvas)
    scaled = box * ([target[1] / width, target[0] / height] * 2) - [offset[1], offset[0]] * 2
    inside = np.clip(scaled, 0, [canvas.width, canvas.height] * 2)
    share_inside = (inside[2:] - inside[:2]).prod() / (scaled[2:] - scaled[:2]).prod()
    if share_inside < request.kept:
        raise _Refusal("cropped away", f"{share_inside:.0%} of the box is in the crop")
    share = (inside[2:] - inside[:2]).prod() / (canvas.width * canvas.height)
    corners = rectangles([inside[None]], canvas.height, canvas.width)[0]
    if share > request.largest or (corners == [0, 0, canvas.width, canvas.height]).all():
        raise _Refusal("box too large", f"{share:.0%} of the image")
    return tuple(int(corner) for corner in corners)


def _mask(box: np.ndarray, candidate: In9Candidate, photo: Photo, request: In9Request) -> tuple[np.ndarray, int]:
    """The object's mask, bool [H, W] of the photo, and the seed that it took (−1: none)."""
    if request.masks is None:
        segmentation = segment_object(photo.image, box, candidate.name, request)
        if segmentation.mask is None:
            raise _Refusal("segmentation failed", f"{segmentation.why} in {segmentation.tries} tries")
        return segmentation.mask, segmentation.seed
    if request.masks.startswith("python:"):
        model = mask_model(request.masks)
        try:
            mask = np.asarray(model(photo.image, box)) > 0
        except Exception as error:  # whatever a user's model raises
            raise _Refusal("segmentation failed", f"the mask model: {type(error).__name__}: {error}") from None
        if mask.shape != photo.size:
            raise _Refusal("segmentation failed", f"the mask model gave {mask.shape}, not {photo.size}")
    else:
        mask = np.asarray(photo.maps.get("mask", np.zeros(photo.size)), bool)
    share = mask.sum() / (box[2:] - box[:2]).prod()
    if share < request.smallest:
        raise _Refusal("segmentation failed", f"the mask is {share:.1%} of the box")
    return mask, -1


@cache
def mask_model(text: str) -> Callable[[np.ndarray, np.ndarray], Any]:
    """What `python:file.py:factory` makes: a callable from an image uint8 [H, W, 3] and its box [4] to a mask [H, W]."""
    from snellen.errors import UserError
    from snellen.user_code import user_module

    place, colon, factory = text.removeprefix("python:").rpartition(":")
    make = getattr(user_module(place), factory, None) if colon else None
    if not callable(make):
        raise UserError(f"'{text}' names no callable; expected python:file.py:factory, which returns a mask model")
    model = make()
    if not callable(model):
        raise UserError(f"'{text}' returned {type(model).__name__}; expected a callable from image and box to a mask")
    return model
