"""`boxes:file.csv`: one row per box, with `path`, `label`, `x0`, `y0`, `x1`, `y1` and any further columns.

A path may have several rows; one without numbers is an image without a box. The maximum is exclusive (x1 = x0 + width) unless
`?max=inclusive`. `file`, `class` and `xmin` … `ymax` are understood too; paths are below the file's folder or `?root=DIR`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.dataset import Dataset, number_labels
from snellen.data.manifest import BOX, below, box_corners, read_table
from snellen.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

ALSO = {"path": "file", "label": "class", "x0": "xmin", "y0": "ymin", "x1": "xmax", "y1": "ymax"}


def boxes(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a CSV or Parquet file lists, in the order of their first rows; ids are their paths."""
    file, text, conditions = Path(path).expanduser(), f"boxes:{path}", dict(options)
    beyond = float(switch(conditions, "max", ("exclusive", "inclusive"), text) == "inclusive")
    root = Path(conditions.pop("root", str(file.parent))).expanduser()
    table = _table(read_table(file), path)
    corners = box_corners(table, path).copy()  # a frame may give out its own memory, which is read-only
    some = np.isnan(corners).any(1)
    partly = np.flatnonzero(some & ~np.isnan(corners).all(1))
    if len(partly):
        raise UserError(
            f"{path} line {partly[0] + 2}: a box needs all of x0, y0, x1, y1; it has {_written(corners[partly[0]])}"
        )
    corners[:, 2:] += beyond
    words = [str(word) for word in table["label"]]
    _, classes = number_labels(words)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(table["path"]):
        rows.setdefault(str(name), []).append(row)
    images = []
    for name, own in rows.items():
        with_box = [row for row in own if not some[row]]
        images.append(
            BoxedImage(
                name,
                below(root, name, f"{path} line {own[0] + 2}"),
                tuple(words[row].strip() for row in with_box),
                corners[with_box] if with_box else NO_BOXES,
                words[own[0]].strip(),
                annotated=bool(with_box),
            )
        )
    first = [own[0] for own in rows.values()]
    more = {str(c): table[c].to_numpy()[first] for c in table.columns if c not in ("path", "label", *BOX)}
    return boxed_dataset(text, images, classes, more, conditions)


def _table(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The table with the names of the columns as we have them."""
    renamed = {also: name for name, also in ALSO.items() if name not in table.columns and also in table.columns}
    table = table.rename(columns=renamed)
    for column, also in ALSO.items():
        if column not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise UserError(f"{path} has no column '{column}' (or '{also}'); it has: {known}")
    if table.empty:
        raise UserError(f"{path} lists no boxes")
    if table["label"].isna().any() or table["path"].isna().any():
        row = int(np.flatnonzero(table["label"].isna() | table["path"].isna())[0])
        raise UserError(f"{path} line {row + 2}: path or label is empty")
    return table


def _written(corners: np.ndarray) -> str:
    return ", ".join("nothing" if np.isnan(value) else f"{value:g}" for value in corners)
