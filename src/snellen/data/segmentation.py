"""COCO's outlines as masks: run lengths, plain or packed into text, and polygons."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from snellen.errors import UserError
from snellen.files import decode_json

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_TEXT = 64 * 2**20  # characters of packed run lengths
_Coordinate = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
_Polygon = Annotated[list[_Coordinate], msgspec.Meta(min_length=4)]


class Runs(msgspec.Struct):
    """Run lengths down the columns, the first of which is outside; `size` is [height, width]."""

    counts: Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)] | list[Annotated[int, msgspec.Meta(ge=0)]]
    size: tuple[int, int] | None = None


def mask_of(segmentation: bytes, width: int, height: int) -> np.ndarray:
    """bool [H, W]: the pixels of an object, from the JSON of its segmentation."""
    outline: Runs | list[list[float]] = decode_json(segmentation, Runs | list[_Polygon], "its segmentation")
    if isinstance(outline, Runs):
        if outline.size not in (None, (height, width)):
            raise UserError(f"its segmentation is of {outline.size}, the image of {(height, width)} (height, width)")
        return filled_runs(
            unpacked(outline.counts) if isinstance(outline.counts, str) else outline.counts, height, width
        )
    return _filled_polygons(outline, width, height)


def is_outline(segmentation: bytes) -> bool:
    """Whether the JSON of a segmentation holds anything: not null, [] or {}."""
    return len(segmentation) > 8 or b"".join(segmentation.split()) not in (
        b"",
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"false",
        b"0",
    )


def unpacked(text: str) -> list[int]:
    """Run lengths of COCO's text: groups of five bits, lowest first; see `packed` in the exports of the phantom world."""
    lengths: list[int] = []
    number = shift = 0
    for sign in text:
        group = ord(sign) - 48
        if not 0 <= group < 64 or shift > 60:
            raise UserError("its run lengths are not COCO's text")
        number |= (group & 31) << shift
        shift += 5
        if not group & 32:
            if group & 16:
                number -= 1 << shift
            lengths.append(number + (lengths[-2] if len(lengths) > 2 else 0))
            number = shift = 0
    return lengths


def filled_runs(lengths: Sequence[int], height: int, width: int) -> np.ndarray:
    """bool [H, W]: a mask from the lengths of its runs down the columns, the first of which is outside."""
    total = next((so_far for so_far in accumulate(lengths) if so_far > height * width), None) or sum(lengths)
    if total != height * width or min(lengths, default=0) < 0:
        raise UserError(f"its run lengths do not make the {width}x{height} pixels of the image")
    inside = np.arange(len(lengths)) % 2 == 1
    return np.repeat(inside, lengths).reshape(width, height).T


def _filled_polygons(polygons: Sequence[Sequence[float]], width: int, height: int) -> np.ndarray:
    from PIL import Image, ImageDraw

    canvas = Image.new("1", (width, height))
    for number, polygon in enumerate(polygons):
        if len(polygon) % 2:
            raise UserError(f"polygon {number} of its segmentation has {len(polygon)} numbers; expected pairs x, y")
        ImageDraw.Draw(canvas).polygon(list(polygon), fill=1)
    return np.asarray(canvas)
