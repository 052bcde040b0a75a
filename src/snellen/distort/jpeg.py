"""JPEG: what a camera or a web page loses."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
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

    The pixels are Pillow's with its own settings (4:2:0 chroma), made in threads on the CPU: a file that people really have
    comes out of such a library, and no approximation on another device has its very pixels.
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
    """uint8 [3, H, W] as Pillow reads it from a JPEG file of that quality that it wrote."""
    return _codec()(planes, quality)


def through_pillow(planes: np.ndarray, quality: int) -> np.ndarray:
    """The same, by Pillow itself."""
    file = io.BytesIO()
    picture_of(planes).save(file, "JPEG", quality=quality)
    return planes_of(Image.open(file, formats=("JPEG",)))


def through_opencv(planes: np.ndarray, quality: int) -> np.ndarray:
    """The same, by OpenCV, which needs two thirds of the time: both hold the library libjpeg-turbo."""
    import cv2

    _, file = cv2.imencode(".jpg", cv2.merge(list(planes[::-1])), (cv2.IMWRITE_JPEG_QUALITY, quality))
    picture = cv2.imdecode(file, cv2.IMREAD_COLOR)
    assert picture is not None
    return np.stack(cv2.split(picture)[::-1])


@functools.lru_cache(maxsize=1)
def _codec() -> Callable[[np.ndarray, int], np.ndarray]:
    """OpenCV's where it is installed and makes Pillow's pixels of some noise at some qualities, else Pillow's."""
    noise = np.random.default_rng(0).integers(0, 256, (3, 37, 43), np.uint8)
    try:
        same = [
            np.array_equal(through_opencv(noise, each), through_pillow(noise, each)) for each in (1, 25, 75, 90, 100)
        ]
    except Exception:  # of whatever OpenCV is installed
        return through_pillow
    return through_opencv if all(same) else through_pillow
