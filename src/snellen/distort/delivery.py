"""What happens to a picture on its way to a model: it is made smaller, or it is sent once more as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PIL import Image

from snellen.distort.distortion import Distortion
from snellen.distort.each_picture import each_picture
from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Rescale(Distortion):
    """Make the image smaller and as large as before again: what a size limit on the way to a model loses.

    `share` of height and width are kept, above 0 to 1, or a law of it per image. Pillow scales both ways (bicubic).
    """

    share: float | Law = 0.5
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"share": 1}

    def __post_init__(self) -> None:
        expect_within("share", self.share, 0.01, 1)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        shares = view.parameter("share", self.share).tolist()
        return each_picture(images, lambda planes, row: np.stack([_rescaled(plane, shares[row]) for plane in planes]))

    def words(self) -> str:
        return f"rescaled to {percent_in_words(self.share)} of its size and back"


@dataclass(frozen=True)
class Again(Distortion):
    """The image as it is, sent once more: answers that change show the noise of the model itself.

    `number` tells several of them apart.
    """

    number: int = 1
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        expect_within("number", self.number, 1, 1_000_000)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return images

    def words(self) -> str:
        return "the same image again" if self.number == 1 else f"the same image again, number {self.number}"


def _rescaled(plane: np.ndarray, share: float) -> np.ndarray:
    picture = Image.fromarray(plane)
    width, height = (max(1, round(side * share)) for side in picture.size)
    small = picture.resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(small.resize(picture.size, Image.Resampling.BICUBIC))
