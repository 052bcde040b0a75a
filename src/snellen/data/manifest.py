"""`manifest:file.csv` or `.parquet`: one row per image with `path`, `label` and any further columns.

Paths are relative to the manifest's folder and stay below it; `?root=DIR` names another folder. Columns `x0, y0, x1,
y1` give a box in pixels (maximum exclusive), `mask` the path of a mask image (which values are the object: `pixel_files`, or
`?mask=1`), `id` the sample's id, `group` its group.
An empty label is unknown; a row without a box or a mask is an image without an object. In a CSV file all other columns are text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.data.boxed_images import NO_BOXES
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows, number_labels
from snellen.data.decode import decode_file
from snellen.data.listing_table import BOX, COLUMNS, CORNER, box_corners, storable_table, table_text
from snellen.data.pixel_files import ASK, mask_of_image, mask_values
from snellen.data.root import Root, stamps
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.plain import NotRead
from snellen.files.table import Column, place_of, read_table
from snellen.hashing import key_of

SCHEMA = {**COLUMNS, "id": Column(filled=True), "mask": Column(), **dict.fromkeys(BOX, CORNER)}


def load_manifest(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a CSV or Parquet file lists."""
    file, conditions = expand_home(path), dict(options)
    table = read_table(file, SCHEMA)
    if table.empty:
        raise UserError(f"{path} lists no images")
    masked = "mask" in table.columns
    values = mask_values(conditions.pop("mask")) if masked and "mask" in conditions else ()
    root = Root(expand_home(conditions.pop("root", str(file.parent))))
    paths = [root.find(name, place_of(path, row)) for row, name in enumerate(table["path"])]
    masks = (
        [root.find(name, place_of(path, row)) if name else None for row, name in enumerate(table["mask"])]
        if masked
        else None
    )
    table = storable_table(table)
    boxes = box_corners(table, path) if set(BOX) <= set(table.columns) else None
    ids = tuple(table["id"] if "id" in table.columns else table["path"])
    if len(set(ids)) < len(ids):
        twice = next(i for i, count in Counter(ids).items() if count > 1)
        advice = f"; a table with one row per box is 'boxes:{path}'" if boxes is not None else ""
        raise UserError(f"{path} lists '{twice}' twice; give each row its own 'id'{advice}")
    labels, classes = number_labels(table["label"])
    if not classes:
        raise UserError(f"{path}: no image has a label; fill the column 'label'")
    extra = {str(c): table[c].to_numpy() for c in table.columns if c not in ("id", "label")}

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [_with_facts(decode_file(paths[p]), p) for p in positions]

    def _with_facts(photo: Photo | Unreadable, row: int) -> Photo | Unreadable:
        if isinstance(photo, Unreadable):
            return photo
        if boxes is not None:
            photo = replace(photo, boxes=NO_BOXES if np.isnan(boxes[row, 0]) else boxes[row : row + 1])
        return photo if masks is None else _with_mask(photo, masks[row], values)

    facts = frozenset({"masks"} if masks else ()) | frozenset({"boxes"} if boxes is not None else ())
    identity = ["manifest", ids, labels.tolist(), stamps(paths), table_text(table)]
    identity += [["mask", *values]] if values else []
    fingerprint = key_of([*identity, stamps(masks)] if masks else identity)
    return filter_rows(
        Dataset(f"manifest:{path}", classes, Samples(ids, labels, extra), fingerprint, read, facts=facts), conditions
    )


def _with_mask(photo: Photo, mask: Path | None, values: Sequence[int]) -> Photo | Unreadable:
    """The photo with the mask in a file; an empty one where there is no file."""
    if mask is None:
        return replace(photo, maps={"mask": np.zeros(photo.size, bool)})
    try:
        outline = mask_of_image(mask, values, ASK)
    except NotRead as error:
        return Unreadable(f"its mask {mask.name} cannot be read: {error.reason}")
    except UserError as error:
        return Unreadable(f"its mask {mask.name}: {error}")
    if outline.shape != photo.size:
        height, width = photo.size
        return Unreadable(f"its mask is {outline.shape[0]}x{outline.shape[1]}, the image {height}x{width}")
    return replace(photo, maps={"mask": outline})
