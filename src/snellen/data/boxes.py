"""`boxes:file.csv`: one row per box, with `path`, `label`, `x0`, `y0`, `x1`, `y1` and any further columns.

A path may have several rows; one without numbers is an image without a box. The maximum is exclusive (x1 = x0 + width) unless
`?max=inclusive`. `file`, `class` and `xmin` … `ymax` are understood too; paths are below the file's folder or `?root=DIR`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.dataset import Dataset, number_labels
from snellen.data.listing_table import BOX, COLUMNS, CORNER, box_corners, storable_table
from snellen.data.names import storable
from snellen.data.root import Root
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.table import place_of, read_table

ALSO = {"path": "file", "label": "class", "x0": "xmin", "y0": "ymin", "x1": "xmax", "y1": "ymax"}
SCHEMA = {
    **COLUMNS,
    **{name: replace(COLUMNS.get(name, CORNER), also=also, required=True) for name, also in ALSO.items()},
}


def load_boxes(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a CSV or Parquet file lists, in the order of their first rows; ids are their paths."""
    file, text, conditions = expand_home(path), f"boxes:{path}", dict(options)
    beyond = float(switch(conditions, "max", ("exclusive", "inclusive"), text) == "inclusive")
    root = Root(expand_home(conditions.pop("root", str(file.parent))))
    table = read_table(file, SCHEMA)
    if table.empty:
        raise UserError(f"{path} lists no boxes")
    names = table["path"].tolist()
    table = storable_table(table)
    corners = box_corners(table, path)
    boxless = np.isnan(corners).any(1)
    corners[:, 2:] += beyond
    words = [word.strip() for word in table["label"]]
    _, classes = number_labels(words)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    images = []
    for name, own in rows.items():
        boxed = [row for row in own if not boxless[row]]
        images.append(
            BoxedImage(
                storable(name),
                root.find(name, place_of(path, own[0])),
                tuple(words[row] for row in boxed),
                corners[boxed] if boxed else NO_BOXES,
                words[own[0]] or None,
                annotated=bool(boxed),
            )
        )
    first = [own[0] for own in rows.values()]
    more = {str(c): table[c].to_numpy()[first] for c in table.columns if c not in ("path", "label", *BOX)}
    return boxed_dataset(text, images, classes, more, conditions)
