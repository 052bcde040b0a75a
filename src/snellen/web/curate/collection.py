"""What there is to review: images with a mask each, and the variants in which the mask shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from snellen.build.in9.curation import Mend
from snellen.build.in9.request import In9Request
from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.distort.strips import rectangles
from snellen.errors import UserError

MOST_SHORTER = 512  # pixels of the shorter side at which GrabCut works on photographs


@dataclass(frozen=True)
class Exhibit:
    """An image uint8 [H, W, 3], the mask of its object bool [H, W], and its box x0, y0, x1, y1 (whole pixels)."""

    image: np.ndarray
    mask: np.ndarray
    box: tuple[int, ...]

    def mended(self, mend: Mend | None) -> Exhibit:
        """The same with what people changed."""
        if mend is None:
            return self
        box, mask = mend.box, mend.mask
        if mask is not None and mask.shape != self.mask.shape:
            got, expected = (f"{width}×{height}" for height, width in (mask.shape, self.mask.shape))
            raise UserError(f"the mask of its review has {got} pixels, the image {expected}; take the set as it was")
        return replace(self, box=self.box if box is None else box, mask=self.mask if mask is None else mask)


@dataclass(frozen=True)
class Collection(ABC):
    """Images to review: the data that list them, the reasons to reject one, and the variants to show of each.

    `names` are what lists call the images, `fingerprint` tells this set from others, `settings` are those of GrabCut.
    """

    data: Dataset
    names: tuple[str, ...]
    reasons: tuple[str, ...]
    variants: tuple[str, ...]
    fingerprint: str
    settings: In9Request = field(default_factory=lambda: In9Request(data="-", out=Path("-")))

    @property
    def text(self) -> str:
        """How the user wrote it."""
        return self.data.text

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each name."""
        return {name: row for row, name in enumerate(self.names)}

    def exhibit(self, row: int) -> Exhibit:
        """The image in a row; one that cannot be read is a UserError that says why."""
        photo = self.data.read([row])[0]
        if isinstance(photo, Unreadable):
            raise UserError(f"'{self.names[row]}' cannot be shown: {photo.reason}")
        mask = np.asarray(photo.maps.get("mask", np.zeros(photo.size)), bool)
        return Exhibit(photo.image, mask, _box(photo, mask))

    @abstractmethod
    def variant(self, row: int, name: str, mend: Mend | None) -> np.ndarray:
        """uint8 [H, W, 3]: a variant of the image in a row, as it would be with what people changed."""


def _box(photo: Photo, mask: np.ndarray) -> tuple[int, ...]:
    """The box of a photo's objects; of one without, that around the mask."""
    height, width = mask.shape
    boxes = np.zeros((0, 4)) if photo.boxes is None else photo.boxes
    if not len(boxes) and mask.any():
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        boxes = np.array([[columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]], float)
    return tuple(int(corner) for corner in rectangles([boxes], height, width)[0])
