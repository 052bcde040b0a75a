"""Thumbnails as data addresses, small enough for a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

SMALL_PNG = 6_000  # bytes above which a thumbnail is packed as JPEG


def picture_address(path: Path) -> str | None:
    """A thumbnail as a data address: small ones as they are, photos packed as JPEG; None where there is none."""
    if not path.exists():
        return None
    content, kind = path.read_bytes(), "png"
    if len(content) > SMALL_PNG:
        from PIL import Image

        packed = io.BytesIO()
        Image.open(io.BytesIO(content)).convert("RGB").save(packed, "JPEG", quality=75, subsampling=0)
        content, kind = min((content, "png"), (packed.getvalue(), "jpeg"), key=lambda one: len(one[0]))
    return address_of(content, kind)


def address_of(content: bytes, kind: str = "png") -> str:
    """A picture as a data address."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
