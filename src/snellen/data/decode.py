"""Image files of any kind to upright 8-bit RGB."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from snellen.data.dataset import Photo, Unreadable
from snellen.hashing import checksum

LARGEST = 200_000_000  # pixels; a larger file is taken for a decompression bomb
Image.MAX_IMAGE_PIXELS = LARGEST


def decode_file(path: Path) -> Photo | Unreadable:
    """The photo in a file, or why there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        return Unreadable(f"cannot be read: {error.strerror or error}")
    return decode_bytes(content)


def decode_bytes(content: bytes) -> Photo | Unreadable:
    """The photo in an encoded file's content, or why there is none."""
    if not content:
        return Unreadable("the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content)) as opened:
                image = upright_rgb(opened)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return Unreadable(f"has more than {LARGEST:,} pixels")
    except Exception as error:  # Pillow's decoders raise many kinds on damaged files
        return Unreadable(f"cannot be decoded: {str(error) or type(error).__name__}")
    return Photo(image, checksum(content))


def upright_rgb(image: Image.Image) -> np.ndarray:
    """uint8 [H, W, 3]: turned by EXIF, grey replicated, palette and CMYK converted, alpha on black, 16 bits to 8."""
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        layer = image.convert("RGBA")
        black = Image.new("RGBA", layer.size, (0, 0, 0, 255))
        image = Image.alpha_composite(black, layer)
    return np.asarray(image.convert("RGB"))


def _deep_grey(image: Image.Image) -> np.ndarray:
    """Grey of more than 8 bits, scaled by its range: 65,535 is white, or 1.0 for floats up to 1."""
    values = np.asarray(image).astype(np.float64)
    top = values.max(initial=0.0)
    scale = 255.0 if image.mode == "F" and top <= 1 else 255.0 / 65535.0 if top > 255 or image.mode != "F" else 1.0
    grey = np.clip(np.rint(values * scale), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)
