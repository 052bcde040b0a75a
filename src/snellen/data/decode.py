"""Image files of any kind to upright 8-bit RGB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from snellen.data.dataset import Photo, Unreadable
from snellen.data.jpeg import decode_jpeg
from snellen.errors import UserError
from snellen.files.picture import open_image, read_image
from snellen.files.plain import NotRead
from snellen.hashing import checksum

_ROWS = 1 << 22  # pixels of deep grey that are scaled at once


def decode_file(path: Path) -> Photo | Unreadable:
    """The photo in a file, or why there is none."""
    try:
        content = read_image(path)
    except NotRead as error:
        return decode_content(error)
    return decode_bytes(content)


def decode_content(content: bytes | NotRead) -> Photo | Unreadable:
    """The photo in an encoded file's content, which may not have been read."""
    if isinstance(content, NotRead):
        return Unreadable(f"cannot be read: {content.reason}")
    return decode_bytes(content)


def decode_bytes(content: bytes) -> Photo | Unreadable:
    """The photo in an encoded file's content, or why there is none."""
    try:
        with open_image(content) as opened:
            pixels = upright_rgb(decode_jpeg(opened, content) or opened)
    except UserError as error:
        return Unreadable(str(error))
    return Photo(pixels, checksum(content))


def upright_rgb(image: Image.Image) -> Image.Image:
    """8-bit RGB, decoded: turned by EXIF, grey replicated, palette and CMYK converted, alpha on black, 16 bits to 8."""
    ImageOps.exif_transpose(image, in_place=True)
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        layer = image.convert("RGBA")
        black = Image.new("RGBA", layer.size, (0, 0, 0, 255))
        image = Image.alpha_composite(black, layer)
    if image.mode == "RGB":
        image.load()
        return image
    return image.convert("RGB")


def _deep_grey(image: Image.Image) -> Image.Image:
    """Grey of more than 8 bits, scaled by its range: 65,535 is white, or 1.0 for floats up to 1; what is no number is black."""
    values = np.asarray(image)
    top = np.max(values, initial=0, where=~np.isnan(values)) if image.mode == "F" else values.max(initial=0)
    scale = 255.0 if image.mode == "F" and top <= 1 else 255.0 / 65535.0 if top > 255 or image.mode != "F" else 1.0
    grey = np.empty(values.shape, np.uint8)
    step = max(1, _ROWS // values.shape[1])
    for start in range(
        0, len(values), step
    ):  # a few rows at a time: eight bytes a pixel would be much for a large image
        some = np.nan_to_num(values[start : start + step].astype(np.float64), posinf=np.inf, neginf=-np.inf)
        grey[start : start + step] = np.clip(np.rint(some * scale), 0, 255)
    return Image.fromarray(grey).convert("RGB")
