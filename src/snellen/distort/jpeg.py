"""JPEG: what a camera or a web page loses."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PIL import Image

from snellen.distort.distortion import Distortion
from snellen.distort.each_picture import each_picture, picture_of, planes_of
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Jpeg(Distortion):
    """Write the image as JPEG and read it again; `quality` is 1 to 100, a whole number, or a law of it per image, rounded.

    Pillow does both, in threads on the CPU, with its own settings (4:2:0 chroma): a file that people really have comes out of
    such a library, and no approximation on another device has its very pixels.
    """

    quality: int | Law = 50
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        expect_within("quality", self.quality, 1, 100)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        qualities = np.rint(view.parameter("quality", self.quality)).astype(int).tolist()
        return each_picture(images, lambda planes, row: through_jpeg(planes, qualities[row]))

    def words(self) -> str:
        return f"JPEG of quality {in_numbers(self.quality) or 'drawn'}"


def through_jpeg(planes: np.ndarray, quality: int) -> np.ndarray:
    """uint8 [3, H, W] as it is read from a JPEG file of that quality."""
    file = io.BytesIO()
    picture_of(planes).save(file, "JPEG", quality=quality)
    return planes_of(Image.open(file, formats=("JPEG",)))
