"""Pictures that stand in several places of a page: kept once and drawn wherever they are used."""

from __future__ import annotations

import base64
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from snellen.report.blocks import NAMES, Page, Picture

PNG, FRAMES = b"\x89PNG\r\n\x1a\n", {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True)
class SharedPicture:
    """A picture with its width and height in pixels, under a name on its page."""

    name: str
    source: str
    width: int
    height: int


def shared_pictures(page: Page) -> dict[str, SharedPicture]:
    """The pictures that a page shows more than once, by their data address."""
    counts = Counter(picture.source for picture in _pictures(page.blocks) if picture.source)
    shared: dict[str, SharedPicture] = {}
    for source, count in counts.items():
        if count > 1 and (size := size_of(source)):
            shared[source] = SharedPicture(f"picture-{len(shared)}", source, *size)
    return shared


def _pictures(value: Any) -> Iterator[Picture]:
    if isinstance(value, Picture):
        yield value
    elif isinstance(value, tuple):
        for inside in value:
            yield from _pictures(inside)
    elif type(value) in NAMES:
        for declared in fields(value):
            if not declared.metadata.get("plain"):
                yield from _pictures(getattr(value, declared.name))


def size_of(source: str) -> tuple[int, int] | None:
    """Width and height of a PNG or JPEG in a data address, by its header; None of anything else."""
    try:
        content = base64.b64decode(source.partition(",")[2], validate=True)
        return struct.unpack(">II", content[16:24]) if content.startswith(PNG) else _jpeg_size(content)
    except (ValueError, struct.error):
        return None


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    place = 2
    while content.startswith(b"\xff\xd8") and place + 9 <= len(content):
        marker, length = content[place + 1], int.from_bytes(content[place + 2 : place + 4])
        if marker in FRAMES:
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return None
