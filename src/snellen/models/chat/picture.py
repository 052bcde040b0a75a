"""How an image is sent: written as PNG or JPEG, scaled or not, with the endpoint's own setting of detail."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass

import numpy as np
from PIL import Image


@dataclass(frozen=True)
class SentPicture:
    """`format` is `png` or `jpeg(QUALITY)`; `side` the pixels of the longer side, the image's own where None; `detail` is passed
    on to the endpoint, where it is set."""

    format: str = "png"
    side: int | None = None
    detail: str | None = None

    def scaled(self, height: int, width: int) -> tuple[int, int]:
        """Height and width, in pixels, in which an image of some pixels is sent."""
        share = 1.0 if self.side is None else self.side / max(height, width)
        return max(1, round(height * share)), max(1, round(width * share))

    def address(self, image: np.ndarray) -> str:
        """The data address of an image uint8 [H, W, 3]."""
        kind, content = self.encode(image)
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"

    def encode(self, image: np.ndarray) -> tuple[str, bytes]:
        """The kind of file and its bytes; Pillow scales (bicubic) and writes, JPEG with its usual 4:2:0 chroma."""
        picture = Image.fromarray(image)
        if self.side is not None:
            height, width = self.scaled(picture.height, picture.width)
            picture = picture.resize((width, height), Image.Resampling.BICUBIC)
        file = io.BytesIO()
        if self.format == "png":
            picture.save(file, "PNG", compress_level=1)
            return "png", file.getvalue()
        picture.save(file, "JPEG", quality=quality_of(self.format))
        return "jpeg", file.getvalue()


PNG = SentPicture()


def picture_format(value: str) -> str:
    """`png`, or `jpeg(QUALITY)` with a quality from 1 to 100."""
    if value != "png" and quality_of(value) == 0:
        raise ValueError("as png or jpeg(QUALITY), with a quality from 1 to 100")
    return value


def quality_of(value: str) -> int:
    """The quality in `jpeg(QUALITY)`; 0 where it is none."""
    match = re.fullmatch(r"jpeg\(([1-9][0-9]?|100)\)", value)
    return int(match[1]) if match else 0
