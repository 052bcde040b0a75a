"""What a part of a build was made of, as a key: a stopped build keeps a part only while all that was read is as it was.

Sizes and times of files do not count: a copy may keep both. The version of snellen does: another one may draw other pixels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from snellen.data.dataset import Photo, Unreadable
from snellen.files.picture import read_image
from snellen.files.plain import NotRead
from snellen.hashing import checksum
from snellen.version import __version__


def content_key(*parts: Any) -> str:
    """A key of plain values: texts, bytes, numbers, and tuples, lists, dicts and dataclasses of them."""
    return checksum(repr((__version__, parts)).encode(errors="backslashreplace"))


def photo_content(photo: Photo | Unreadable | None) -> tuple[Any, ...]:
    """A photo, its boxes and its maps in a few words; of one that cannot be read why."""
    if photo is None:
        return ()
    if isinstance(photo, Unreadable):
        return photo.sort, photo.reason
    maps = {name: _array_content(values) for name, values in sorted(photo.maps.items())}
    return photo.checksum, photo.size, None if photo.boxes is None else _array_content(photo.boxes), maps


def file_content(path: Path) -> str:
    """The checksum of an image's file, or why it cannot be read."""
    try:
        return checksum(read_image(path))
    except NotRead as error:
        return error.reason


def _array_content(values: np.ndarray) -> tuple[str, tuple[int, ...], str]:
    array = np.ascontiguousarray(values)
    return array.dtype.str, array.shape, checksum(array.tobytes())
