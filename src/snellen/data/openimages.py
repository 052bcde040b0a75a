"""`openimages:validation-annotations-bbox.csv?images=DIR`: boxes and classes in tables, as Open Images has them.

One row per box: `ImageID`, `LabelName`, `XMin`, `XMax`, `YMin`, `YMax` as shares of the sides. Images are DIR/ImageID.jpg.
`?names=class-descriptions-boxable.csv` gives names for labels such as /m/01yrx; without it a file of that name beside the table
does. `?groups=false` leaves out boxes around groups of objects (`IsGroupOf`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.dataset import Dataset
from snellen.data.names import storable
from snellen.data.root import Root
from snellen.errors import UserError
from snellen.files import MIB, expand_home, read_text
from snellen.files.places import exists, may_be_folder
from snellen.files.table import Column, place_of, read_table

if TYPE_CHECKING:
    import pandas as pd

SHARE = Column("float", required=True, filled=True, least=-1.0, most=2.0)  # an object may reach out of its image
SHARES = ("XMin", "YMin", "XMax", "YMax")
SCHEMA = {
    "ImageID": Column(required=True, filled=True),
    "LabelName": Column(required=True, filled=True),
    **dict.fromkeys(SHARES, SHARE),
}
NAMES = ("class-descriptions-boxable.csv", "oidv7-class-descriptions-boxable.csv", "class-descriptions.csv")


def load_openimages(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a table of boxes lists, in the order of their first rows; ids are their own."""
    file, text, conditions = expand_home(path), f"openimages:{path}", dict(options)
    groups = switch(conditions, "groups", ("true", "false"), text)
    named, folder = conditions.pop("names", None), conditions.pop("images", None)
    if folder is not None and not may_be_folder(expand_home(folder)):
        raise UserError(f"no folder '{folder}'; give the folder of the images, as in {text}?images=DIR")
    table = read_table(file, SCHEMA)
    if table.empty:
        raise UserError(f"{path} lists no boxes")
    root = Root(expand_home(folder) if folder is not None else file.parent, "?images=DIR")
    names = _descriptions(file, named)
    shares, single = table[list(SHARES)].to_numpy(float), _single(table, groups)
    classes = [storable(names.get(label, label)) for label in table["LabelName"]]
    rows: dict[str, list[int]] = {}
    for row, image in enumerate(table["ImageID"]):
        rows.setdefault(image, []).append(row)
    images = []
    for image, own in rows.items():
        boxed = [row for row in own if single[row]]
        images.append(
            BoxedImage(
                storable(image),
                root.find(f"{image}.jpg", place_of(path, own[0])),
                tuple(classes[row] for row in boxed),
                shares[boxed] if boxed else NO_BOXES,
                annotated=bool(boxed),
                shares=True,
            )
        )
    return boxed_dataset(text, images, None, None, conditions, ["shares"])


def _single(table: pd.DataFrame, groups: str) -> np.ndarray:
    """bool [rows]: the boxes that are used."""
    if groups == "true" or "IsGroupOf" not in table.columns:
        return np.ones(len(table), bool)
    return np.array([str(cell).strip() != "1" for cell in table["IsGroupOf"]])


def _descriptions(file: Path, named: str | None) -> dict[str, str]:
    """Names by label: two columns without a header, or with one."""
    beside = next((file.with_name(name) for name in NAMES if exists(file.with_name(name))), None)
    place = expand_home(named) if named is not None else beside
    names: dict[str, str] = {}
    if place is None:
        return names
    for number, line in enumerate(read_text(place, "list of classes", 64 * MIB).splitlines(), 1):
        label, comma, name = line.partition(",")
        if line.strip() and not (comma and label.strip() and name.strip()):
            raise UserError(
                f"{place} line {number}: expected a label and its name, such as /m/01yrx,Cat, got '{line[:60]}'"
            )
        if line.strip():
            names[label.strip()] = name.strip().strip('"')
    return names
