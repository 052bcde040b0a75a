"""What is written: tables, JSON and pictures as bytes, the same for the same values everywhere, and names of files."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from snellen.data.in9.layout import file_name
from snellen.hashing import key_of


def names_of(ids: Sequence[str]) -> list[str]:
    """A file name for each id of a sample; where two would be the same, a hash of the id tells them apart."""
    names = [file_name(sample) for sample in ids]
    often = Counter(name.lower() for name in names)
    return [n if often[n.lower()] == 1 else f"{n}-{key_of(sample)[:8]}" for n, sample in zip(names, ids)]


def table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as CSV in UTF-8."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def encode_json(value: Any, indent: int | None = None) -> bytes:
    """JSON in UTF-8."""
    separators = (",", ":") if indent is None else None
    return (json.dumps(value, indent=indent, separators=separators, ensure_ascii=False) + "\n").encode()


def encode_image(pixels: np.ndarray) -> bytes:
    """An image uint8 [H, W, 3], or with alpha [H, W, 4], as PNG, without loss."""
    return encode_picture(Image.fromarray(np.ascontiguousarray(pixels)))


def encode_mask(mask: np.ndarray) -> bytes:
    """A mask bool [H, W] as PNG with one bit per pixel, white where it is true."""
    return encode_picture(Image.fromarray(np.ascontiguousarray(mask)))


def encode_picture(picture: Image.Image) -> bytes:
    """A picture of Pillow's as PNG."""
    content = io.BytesIO()
    picture.save(content, "PNG", compress_level=6)
    return content.getvalue()
