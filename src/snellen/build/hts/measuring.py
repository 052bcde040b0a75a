"""How many pixels the images have and how sharp they are, measured a few at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.build.clarity import sharpness_of
from snellen.build.hts.settings import Settings
from snellen.build.portion_file import keep_rows, portion_file
from snellen.data.dataset import Photo, Unreadable

UNREAD = "unreadable"


@dataclass(frozen=True)
class Portion:
    """Images that one process measures, by their positions in the dataset."""

    number: int
    rows: Sequence[int]
    photos: Sequence[Photo | Unreadable] = ()


@dataclass(frozen=True)
class Measure:
    """The image at the position `row`: its pixels, its sharpness and the checksum of its source, or why it is not known."""

    row: int
    reason: str = ""
    detail: str = ""
    pixels: int = 0
    sharpness: float = 0
    source: str = ""


def measure_portion(settings: Settings, pool: Path, portion: Portion) -> list[Measure]:
    """Measure the images of a portion, and keep the result."""
    measures = [_measure(row, photo, settings) for row, photo in zip(portion.rows, portion.photos)]
    keep_rows(portion_file(pool, portion.number), measures)
    return measures


def _measure(row: int, photo: Photo | Unreadable, settings: Settings) -> Measure:
    if isinstance(photo, Unreadable):
        return Measure(row, UNREAD, photo.reason)
    height, width = photo.size
    image = photo.image
    if settings.resized:
        picture = Image.fromarray(np.ascontiguousarray(image))
        image = np.asarray(picture.resize((settings.size, settings.size), Image.Resampling.BILINEAR))
    return Measure(row, pixels=height * width, sharpness=round(sharpness_of(image), 6), source=photo.checksum)
