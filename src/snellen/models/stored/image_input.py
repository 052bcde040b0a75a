"""The input of a stored network: which of its dimensions are images, channels and pixels, and what it takes for a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from snellen.errors import UserError

Layout = Literal["NCHW", "NHWC"]
Dimension = int | None  # None where any number is taken
PLACES: dict[Layout, tuple[int, int, int]] = {"NCHW": (1, 2, 3), "NHWC": (3, 1, 2)}  # of channels, height and width
NUMBERS = ("float32", "float16", "float64", "uint8")


@dataclass(frozen=True)
class ImageInput:
    """An input of images: its name, the `layout` of its dimensions, the `numbers` it takes, and where they are fixed the
    `size` (height, width) of the images and the `batch` that are taken at once."""

    name: str = ""
    layout: Layout = "NCHW"
    numbers: str = "float32"
    size: tuple[int, int] | None = None
    batch: int | None = None

    @property
    def normalised(self) -> bool:
        """Whether it takes numbers that are normalised outside; bytes are normalised inside."""
        return self.numbers != "uint8"


def image_input(name: str, shape: Sequence[Dimension], numbers: str, text: str, layout: str | None) -> ImageInput:
    """The input of this shape; what is no batch of colour images is refused."""
    shown = f"[{', '.join('any' if length is None else str(length) for length in shape)}]"
    if len(shape) != 4 or numbers not in NUMBERS:
        raise UserError(
            f"'{text}' takes {shown} of {numbers} as '{name}'; expected images, four dimensions of {' or '.join(NUMBERS)}"
        )
    fits = [known for known, (channels, *_) in PLACES.items() if shape[channels] in (3, None)]
    sure = [known for known in fits if shape[PLACES[known][0]] == 3]
    if not fits:
        raise UserError(f"'{text}' takes {shown} as '{name}'; expected images of three channels, red, green and blue")
    if layout is None and len(sure) != 1 and len(fits) > 1:
        raise UserError(
            f"'{text}' does not say which dimension of '{name}', {shown}, is colour; add #layout=NCHW or NHWC"
        )
    chosen: Layout = (sure if len(sure) == 1 else fits)[0]
    if layout is not None:
        if layout not in fits:
            raise UserError(f"'{text}' sets layout={layout}, but '{name}' is {shown}; leave it out, or set {chosen}")
        chosen = "NHWC" if layout == "NHWC" else "NCHW"
    _, height, width = (shape[place] for place in PLACES[chosen])
    size = (height, width) if height and width else None
    return ImageInput(name, chosen, numbers, size, shape[0])
