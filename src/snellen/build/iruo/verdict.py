"""What became of each appearance of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from snellen.data.ovis.levels import UNKNOWN

Type = Literal["none", "same_class", "other_class", "unknown"]
TYPES: tuple[Type, ...] = ("none", "same_class", "other_class", "unknown")


@dataclass(frozen=True)
class Verdict:
    """What became of the appearance at the position `row`: why it is not taken ("" where it is), and what is known of it.

    `level` is what counts, `stated` and `measured` where it may come from (UNKNOWN for none); `hidden` the share of its pixels
    that is hidden. `occluder` is the instance that hides most of it, of the class `occluder_class`. `crop` is what was cut out of
    the frame and `box` the object in the crop, x0, y0, x1, y1 in pixels. `visible` and `full` say which masks there are, `source`
    is the checksum of the frame's file.
    """

    row: int
    reason: str = ""
    detail: str = ""
    level: int = UNKNOWN
    stated: int = UNKNOWN
    measured: int = UNKNOWN
    hidden: float | None = None
    type: Type = "unknown"
    occluder: int | None = None
    occluder_class: str = ""
    crop: tuple[int, int, int, int] = (0, 0, 0, 0)
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    visible: bool = False
    full: bool = False
    source: str = ""
