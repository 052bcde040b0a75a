"""The list that people keep of a set: which images they take, why not the others, and what they mended.

curation.csv has the columns id, decision and reason. A list may also say, for an image that is taken, where its object is:
x0, y0, x1, y1 (whole pixels of the set's images, maximum exclusive) and mask, a file of 0 and 1 below the list's own folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.dataset import Unreadable
from snellen.data.names import storable
from snellen.data.pixel_files import read_mask
from snellen.data.root import Root
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.places import exists
from snellen.files.table import Column, line_of, place_of, read_table
from snellen.hashing import checksum

if TYPE_CHECKING:
    import pandas as pd

DECISIONS = ("accept", "reject")
DECIDED = ("id", "decision", "reason")  # columns of the list that builders write
CORNERS = ("x0", "y0", "x1", "y1")
MENDED = (*DECIDED, *CORNERS, "mask")  # columns of the list that the curation desk writes
MOST_SIDE = 100_000  # pixels


@dataclass(frozen=True)
class Mend:
    """What people changed of an image: its box (x0, y0, x1, y1) and its mask bool [S, S], None where it stays as it was."""

    box: tuple[int, ...] | None = None
    mask: np.ndarray | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """The change in a few words, for keys."""
        mask = None if self.mask is None else (self.mask.shape, checksum(np.packbits(self.mask).tobytes()))
        return self.box, mask


@dataclass(frozen=True)
class CurationList:
    """What a list says: id → reason of the images it rejects, and id → mend of those that people changed."""

    rejects: Mapping[str, str]
    mends: Mapping[str, Mend]

    @property
    def named(self) -> set[str]:
        """Every id that the list changes something of."""
        return {*self.rejects, *self.mends}

    @property
    def content(self) -> list[object]:
        """All that it changes, for keys; of a list without mends the same as in earlier versions."""
        mends = sorted((name, *mend.content) for name, mend in self.mends.items())
        return [*sorted(self.rejects.items()), *(["mends", *mends] if mends else [])]

    def check_size(self, height: int, width: int, file: str | Path | None) -> None:
        """Refuse boxes and masks that are not of images of this size."""
        for name, mend in self.mends.items():
            if mend.mask is not None and mend.mask.shape != (height, width):
                size = "x".join(map(str, mend.mask.shape))
                raise UserError(f"{file}: the mask of '{name}' is {size}, the set's images {height}x{width}; "
                                f"curate a set of that size, or choose another {option('curation')}")  # fmt: skip
            if mend.box is not None and not fits(mend.box, height, width):
                raise UserError(
                    f"{file}: the box of '{name}' leaves the image of {height}x{width} pixels, or fills it; mend it again"
                )


def fits(box: tuple[int, ...], height: int, width: int) -> bool:
    """Whether a box lies in an image and leaves some background of it."""
    x0, y0, x1, y1 = box
    inside = 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height
    return inside and box != (0, 0, width, height)


def read_curation(file: str | Path | None) -> CurationList:
    """The list in a file; nothing without one."""
    if file is None:
        return CurationList({}, {})
    path = expand_home(file)
    if not exists(path):
        raise UserError(f"no file '{file}'; {option('curation')} takes a CSV file with columns id, decision and reason")
    corner = Column("float", least=0, most=MOST_SIDE)
    table = read_table(path, {**dict.fromkeys(DECIDED, Column(required=True)), **dict.fromkeys(CORNERS, corner)})
    rejects: dict[str, str] = {}
    mends: dict[str, Mend] = {}
    masks = Root(path.parent, "a mask below it")
    lines: dict[str, int] = {}
    for row, (name, decision, reason) in enumerate(table[list(DECIDED)].itertuples(index=False)):
        where, name = place_of(file, row), storable(name.strip())
        if decision.strip() not in DECISIONS:
            raise UserError(f"{where}: expected accept or reject, got '{decision.strip()[:60]}'")
        if name in lines:
            raise UserError(f"{where}: '{name[:60]}' stands in line {lines[name]} too; keep one decision of an image")
        lines[name] = line_of(row)
        if decision.strip() == "reject":
            rejects[name] = storable(reason.strip())
        elif mend := _mend(table, row, masks, where):
            mends[name] = mend
    return CurationList(rejects, mends)


def _mend(table: pd.DataFrame, row: int, masks: Root, where: str) -> Mend | None:
    """What a row changes of its image; None where that is nothing."""
    box = _box([table[corner].iloc[row] for corner in CORNERS], where) if set(CORNERS) <= set(table.columns) else None
    file = str(table["mask"].iloc[row]).strip() if "mask" in table.columns else ""
    if not file:
        return None if box is None else Mend(box)
    mask = read_mask(masks.find(file, where), None)
    if isinstance(mask, Unreadable):
        raise UserError(f"{where}: {mask.reason}")
    if not mask.any():
        raise UserError(f"{where}: the mask '{file[:60]}' is empty; mend it again, or reject the image")
    return Mend(box, mask)


def _box(corners: list[float], where: str) -> tuple[int, ...] | None:
    if np.isnan(corners).all():
        return None
    whole = tuple(int(corner) for corner in corners if corner == corner)
    if list(whole) != corners or whole[2] <= whole[0] or whole[3] <= whole[1]:
        got = ", ".join("nothing" if corner != corner else f"{corner:g}" for corner in corners)
        raise UserError(f"{where}: expected x0, y0, x1, y1 as whole pixels with x0 < x1 and y0 < y1, got {got}")
    return whole
