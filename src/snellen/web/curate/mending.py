"""What people drew, as a box and a mask: the box as it is dragged, strokes as pixels, and GrabCut once more."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from PIL import Image, ImageDraw

from snellen.build.in9.curation import Mend, fits
from snellen.build.in9.request import In9Request
from snellen.build.in9.segment import segment_object, segment_strokes
from snellen.errors import UserError
from snellen.extras import import_package
from snellen.web.curate.collection import Exhibit

Place = Annotated[float, msgspec.Meta(ge=-10_000, le=110_000)]
_ONE_AT_A_TIME = threading.Lock()  # OpenCV has one generator of random numbers


class Stroke(msgspec.Struct, forbid_unknown_fields=True):
    """A line that somebody painted on the object, or else on the background: x, y, x, y, … and how wide, in pixels."""

    object: bool
    width: Annotated[float, msgspec.Meta(gt=0, le=2000)]
    points: Annotated[list[Place], msgspec.Meta(min_length=2, max_length=20_000)]


def painted(strokes: Sequence[Stroke], height: int, width: int) -> np.ndarray:
    """int8 [H, W]: 1 where the object was painted, −1 where background was, by the last stroke over a pixel; else 0."""
    canvas = Image.new("L", (width, height), 1)
    draw = ImageDraw.Draw(canvas)
    for stroke in strokes:
        value, half = 2 if stroke.object else 0, stroke.width / 2
        points = [(x - 0.5, y - 0.5) for x, y in zip(stroke.points[::2], stroke.points[1::2])]  # middles of pixels
        if len(points) > 1:
            draw.line(points, fill=value, width=max(1, round(stroke.width)), joint="curve")
        for x, y in points:
            if half > 0.75:
                draw.ellipse([x - half, y - half, x + half, y + half], fill=value)
            else:
                draw.point((round(x), round(y)), fill=value)
    return np.asarray(canvas).astype(np.int8) - 1


def mended(
    exhibit: Exhibit, name: str, box: Sequence[int], strokes: Sequence[Stroke] | None, settings: In9Request
) -> Mend:
    """What a box and strokes make of an image: without strokes (None) the box alone changes; else GrabCut runs again in the box,
    with what was painted. The box grows around what was painted as the object."""
    height, width = exhibit.mask.shape
    corners = tuple(int(corner) for corner in box)
    paint = painted(strokes or (), height, width)
    rows, columns = np.nonzero(paint > 0)
    if len(rows):
        ends = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        corners = (
            *(min(a, int(b)) for a, b in zip(corners[:2], ends[:2])),
            *(max(a, int(b)) for a, b in zip(corners[2:], ends[2:])),
        )
    if len(corners) != 4 or not fits(corners, height, width):
        raise UserError(
            f"expected a box inside the image of {width} × {height} pixels that leaves some of it, got {list(corners)}"
        )
    changed = None if corners == exhibit.box else corners
    if strokes is None:
        return Mend(changed)
    mask = _grabcut(exhibit, name, corners, paint, settings)
    return Mend(changed, None if np.array_equal(mask, exhibit.mask) else mask)


def _grabcut(exhibit: Exhibit, name: str, box: tuple[int, ...], paint: np.ndarray, settings: In9Request) -> np.ndarray:
    cv2 = import_package("cv2", "GrabCut")
    with _ONE_AT_A_TIME:
        try:
            if paint.any():
                mask = segment_strokes(exhibit.image, exhibit.mask, paint, box, settings)
            else:
                segmented = segment_object(exhibit.image, np.array(box, float), name, settings)
                if segmented.mask is None:
                    raise UserError(
                        f"GrabCut found no object in the box ({segmented.why}); paint some of it, or draw the box again"
                    )
                mask = segmented.mask
        except cv2.error:
            raise UserError(
                "GrabCut could not work with that; paint some background too, or draw the box again"
            ) from None
    if not mask.any():
        raise UserError("GrabCut found no object; paint some of it, or draw the box again")
    return mask


def runs_of(mask: np.ndarray) -> list[int]:
    """A mask as lengths of runs, row by row, that begin with one of background (which may be 0 long)."""
    flat = np.concatenate([[False], mask.ravel(), [not mask.ravel()[-1]]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.concatenate([[0], ends])).tolist()
