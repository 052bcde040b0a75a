"""What became of each appearance, kept in files until the set is complete, so that a stopped build continues."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from snellen.atomic import write_atomic
from snellen.build.destination import encode_json
from snellen.data.ovis.levels import UNKNOWN
from snellen.errors import UserError
from snellen.files import decode_json, read_bytes
from snellen.hashing import checksum

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


def keep_verdicts(file: Path, verdicts: list[Verdict]) -> None:
    """Write verdicts, with a checksum in the first line."""
    content = encode_json([asdict(one) for one in verdicts])
    write_atomic(file, checksum(content).encode() + b"\n" + content)


def read_verdicts(file: Path) -> list[Verdict] | None:
    """The verdicts of an earlier run; None where there are none, or their file is damaged: then they are made again."""
    if not os.path.lexists(file):
        return None
    try:
        first, _, content = read_bytes(file, "verdicts").partition(b"\n")
        if checksum(content).encode() != first:
            return None
        return decode_json(content, list[Verdict], file)
    except UserError:
        return None
