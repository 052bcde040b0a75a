"""How many pixels the images have and how sharp they are, measured a few at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from snellen.build.clarity import sharpness_of
from snellen.build.content import content_key, photo_content
from snellen.build.hts.request import HtsRequest
from snellen.build.runner import Portion
from snellen.data.dataset import Photo, Unreadable

UNREAD = "unreadable"


@dataclass(frozen=True)
class ClarityTask:
    """An image to measure: its position in the dataset, and the photo."""

    row: int
    photo: Photo | Unreadable | None = None


@dataclass(frozen=True)
class ClarityVerdict:
    """The image at the position `row`: its pixels, its sharpness and the checksum of its source, or why it is not known."""

    row: int
    reason: str = ""
    detail: str = ""
    pixels: int = 0
    sharpness: float = 0
    source: str = ""


def clarity_content(portion: Portion[ClarityTask]) -> str:
    """A key of the images of a portion, as they were read."""
    return content_key([(task.row, photo_content(task.photo)) for task in portion.tasks])


def measure_portion(request: HtsRequest, portion: Portion[ClarityTask]) -> list[ClarityVerdict]:
    """Measure the images of a portion."""
    return [_measure(task.row, task.photo, request) for task in portion.tasks]


def _measure(row: int, photo: Photo | Unreadable | None, request: HtsRequest) -> ClarityVerdict:
    assert photo is not None
    if isinstance(photo, Unreadable):
        return ClarityVerdict(row, UNREAD, photo.reason)
    height, width = photo.size
    image = photo.image
    if request.resized:
        picture = Image.fromarray(np.ascontiguousarray(image))
        image = np.asarray(picture.resize((request.size, request.size), Image.Resampling.BILINEAR))
    return ClarityVerdict(row, pixels=height * width, sharpness=round(sharpness_of(image), 6), source=photo.checksum)
