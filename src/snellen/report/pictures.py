"""Thumbnails as data addresses, small enough for a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from snellen.engine.keep.thumbnail_file import read_thumbnail
from snellen.errors import UserError
from snellen.files.picture import open_image

SMALL_PNG = 6_000  # bytes above which a thumbnail is packed as JPEG


def picture_address(path: Path) -> str | None:
    """A thumbnail as a data address: small ones as they are, photos packed as JPEG; None where none is whole."""
    content = read_thumbnail(path)
    return None if content is None else packed_address(content, path)


def packed_address(content: bytes, source: Path | str = "") -> str | None:
    """A PNG as a data address, packed as JPEG where that is smaller; None where it is damaged."""
    kind = "png"
    if len(content) > SMALL_PNG:
        packed = io.BytesIO()
        try:
            with open_image(content, source) as image:
                image.convert("RGB").save(packed, "JPEG", quality=75, subsampling=0)
        except UserError:
            return None
        content, kind = min((content, "png"), (packed.getvalue(), "jpeg"), key=lambda packing: len(packing[0]))
    return address_of(content, kind)


def address_of(content: bytes, kind: str = "png") -> str:
    """A picture as a data address."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
