"""COCO's outlines and masks, both ways: run lengths, plain or packed into text, and polygons."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from snellen.data.earlier import by_earlier_rules
from snellen.data.polygons import filled_polygon
from snellen.errors import UserError
from snellen.files import decode_json

if TYPE_CHECKING:
    from collections.abc import Sequence

POLYGONS = "polygons as of pycocotools"  # to be changed when their pixels do
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


def outlines_mark(outlines: Sequence[bytes]) -> str:
    """What fingerprints know of how outlines are filled: POLYGONS where one is a polygon, else nothing."""
    polygons = any(outline.lstrip()[:1] == b"[" for outline in outlines)
    return POLYGONS if polygons and not by_earlier_rules() else ""


def unpacked(text: str) -> list[int]:
    """Run lengths of COCO's text: groups of five bits, lowest first; see `pack`."""
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
    """bool [H, W]: the pixels of any of several polygons."""
    mask = np.zeros((height, width), bool)
    for number, polygon in enumerate(polygons):
        if len(polygon) % 2:
            raise UserError(f"polygon {number} of its segmentation has {len(polygon)} numbers; expected pairs x, y")
        mask |= filled_polygon(polygon, height, width)
    return mask


def run_lengths(mask: np.ndarray) -> list[int]:
    """The lengths of runs of equal pixels down the columns of a mask [H, W]; the first run is of pixels outside."""
    pixels = np.asarray(mask, bool).T.reshape(-1)
    edges = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    lengths = np.diff(edges, prepend=0, append=len(pixels)).tolist()
    return [0, *lengths] if len(pixels) and pixels[0] else lengths


def pack(lengths: list[int]) -> str:
    """COCO's text of run lengths.

    From the fourth on, a length is written as its difference to the one two before it. Numbers come in groups of five
    bits, lowest first; the sixth bit says that more follow, the fifth of the last group is the sign; 48 makes each
    group a printable character.
    """
    text = []
    for position, length in enumerate(lengths):
        rest = length - lengths[position - 2] if position > 2 else length
        while True:
            group, rest = rest & 31, rest >> 5
            done = rest == (-1 if group & 16 else 0)
            text.append(chr(48 + group + (0 if done else 32)))
            if done:
                break
    return "".join(text)


def rle(mask: np.ndarray) -> dict[str, Any]:
    """A mask [H, W] as COCO's compressed run lengths: `size` [H, W] and `counts`, a text."""
    return {"size": [int(side) for side in mask.shape], "counts": pack(run_lengths(mask))}
