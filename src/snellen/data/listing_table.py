"""Listings in tables: the columns that are understood, and what a box is in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.table import Column, place_of

if TYPE_CHECKING:
    import pandas as pd

BOX = ["x0", "y0", "x1", "y1"]
FARTHEST = 1e9  # pixels from an image's corner at which a box may end
CORNER = Column("float", least=-FARTHEST, most=FARTHEST)
COLUMNS = {
    "path": Column(required=True, filled=True),
    "label": Column(required=True),  # an empty cell is an unknown label
    "group": Column(),
    "video": Column(),
    "texture": Column(),
    "box_share": Column("float"),
}


def box_corners(table: pd.DataFrame, path: Path | str) -> np.ndarray:
    """The boxes as float [rows, 4], nan where a row has none; one of which only a part is there, or that ends
    before it begins, is named by its line."""
    corners = table[BOX].to_numpy(float).copy()  # a frame may give out its own memory, which is read-only
    missing = np.isnan(corners)
    partly = np.flatnonzero(missing.any(1) & ~missing.all(1))
    if len(partly):
        written = ", ".join("nothing" if np.isnan(value) else f"{value:g}" for value in corners[partly[0]])
        raise UserError(f"{place_of(path, int(partly[0]))}: a box needs all of x0, y0, x1, y1; it has {written}")
    turned = np.flatnonzero((corners[:, 2:] < corners[:, :2]).any(1))
    if len(turned):
        written = ", ".join(f"{value:g}" for value in corners[turned[0]])
        raise UserError(
            f"{place_of(path, int(turned[0]))}: {len(turned)} of {len(corners)} boxes end before they begin, this one is "
            f"{written}; expected corners x0, y0, x1, y1, not x, y, width, height"
        )
    return corners


def storable_table(table: pd.DataFrame) -> pd.DataFrame:
    """The table with words that any store can hold: file names may have bytes that are not UTF-8."""
    table = table.copy(deep=False)
    for name in table.columns:
        if table[name].dtype == object:
            cells = table[name].to_numpy()
            try:
                "".join(cell for cell in cells if isinstance(cell, str)).encode()
            except UnicodeEncodeError:
                table[name] = [storable(cell) if isinstance(cell, str) else cell for cell in cells]
    return table


def table_text(table: pd.DataFrame) -> str:
    """The table for a fingerprint; corners in whole pixels are written as whole numbers."""
    whole = [
        name for name in BOX if name in table.columns and table[name].notna().all() and (table[name] % 1 == 0).all()
    ]
    return table.astype(dict.fromkeys(whole, np.int64)).to_csv(index=False)
