"""Thumbnails on disk: small PNGs, each of which carries its own checksums."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np

from snellen.errors import UserError
from snellen.files import MIB, read_bytes

SIDE = 112  # pixels
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode_thumbnail(pixels: np.ndarray) -> bytes:
    """A small PNG of one image uint8 [3, H, W]."""
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    if max(picture.size) > SIDE:
        picture.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def read_thumbnail(path: Path) -> bytes | None:
    """The bytes of a stored thumbnail; None where it is not there or not whole."""
    try:
        content = read_bytes(path, "thumbnail", MIB)
    except UserError:
        return None
    return content if _is_png(content) else None


def _is_png(content: bytes) -> bool:
    """Whether every chunk fits its checksum, from the header to the end; Pillow passes over those of the pixels."""
    start, stop = 0, len(_SIGNATURE)
    if not content.startswith(_SIGNATURE):
        return False
    while (start := stop) + 12 <= len(content):
        stop = start + 12 + int.from_bytes(content[start : start + 4])
        body = content[start + 4 : stop - 4]
        if stop > len(content) or zlib.crc32(body) != int.from_bytes(content[stop - 4 : stop]):
            return False
        if body.startswith(b"IEND"):
            return stop == len(content)
    return False
