"""Pixels as PNG files: images without loss, masks with one bit per pixel."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def encode_image(pixels: np.ndarray) -> bytes:
    """An image uint8 [H, W, 3], or with alpha [H, W, 4]."""
    return encode_picture(Image.fromarray(np.ascontiguousarray(pixels)))


def encode_mask(mask: np.ndarray) -> bytes:
    """A mask bool [H, W], white where it is true."""
    return encode_picture(Image.fromarray(np.ascontiguousarray(mask)))


def encode_picture(picture: Image.Image) -> bytes:
    """A picture of Pillow's."""
    content = io.BytesIO()
    picture.save(content, "PNG", compress_level=6)
    return content.getvalue()
