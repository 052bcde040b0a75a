"""`manifest:file.csv` or `.parquet`: one row per image with `path`, `label` and any further columns.

Paths are relative to the manifest's folder and stay below it; `?root=DIR` names another folder. Columns `x0, y0, x1,
y1` give a box in pixels (maximum exclusive), `mask` the path of a mask image, `id` the sample's id, `group` its group.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows, number_labels
from snellen.data.decode import decode_file
from snellen.errors import UserError
from snellen.hashing import key_of

if TYPE_CHECKING:
    import pandas as pd

BOX = ["x0", "y0", "x1", "y1"]


def manifest(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a CSV or Parquet file lists."""
    file = Path(path).expanduser()
    table = read_table(file)
    for column in ("path", "label"):
        if column not in table.columns:
            raise UserError(f"{path} has no column '{column}'; it has: {', '.join(map(str, table.columns))}")
    if table.empty:
        raise UserError(f"{path} lists no images")
    if table["label"].isna().any() or table["path"].isna().any():
        row = int(np.flatnonzero(table["label"].isna() | table["path"].isna())[0])
        raise UserError(f"{path} line {row + 2}: path or label is empty")
    conditions = dict(options)
    root = Path(conditions.pop("root", str(file.parent))).expanduser()
    paths = [below(root, str(p), f"{path} line {row + 2}") for row, p in enumerate(table["path"])]
    masks = (
        [below(root, str(p), f"{path} line {row + 2}") for row, p in enumerate(table["mask"])]
        if "mask" in table.columns
        else None
    )
    boxes = box_corners(table, path) if set(BOX) <= set(table.columns) else None
    ids = tuple(map(str, table["id"] if "id" in table.columns else table["path"]))
    if len(set(ids)) < len(ids):
        twice = next(i for i, count in Counter(ids).items() if count > 1)
        raise UserError(f"{path} lists '{twice}' twice; give each row its own 'id'")
    labels, classes = number_labels(list(table["label"]))
    extra = {str(c): table[c].to_numpy() for c in table.columns if c not in ("id", "label")}

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [
            _photo(paths[p], masks[p] if masks else None, None if boxes is None else boxes[p : p + 1])
            for p in positions
        ]

    facts = frozenset({"masks"} if masks else ()) | frozenset({"boxes"} if boxes is not None else ())
    stats = [(p.stat().st_size, p.stat().st_mtime_ns) if p.exists() else (0, 0) for p in paths]
    fingerprint = key_of(["manifest", ids, labels.tolist(), stats, table.to_csv(index=False)])
    return filter_rows(
        Dataset(f"manifest:{path}", classes, Samples(ids, labels, extra), fingerprint, read, facts=facts), conditions
    )


def read_table(file: Path) -> pd.DataFrame:
    """A CSV or Parquet file as a frame, with errors that name the file and, where known, the line."""
    if not file.is_file():
        raise UserError(f"no file '{file}'")
    import pandas as pd

    try:
        if file.suffix == ".parquet":
            return pd.read_parquet(file)
        return pd.read_csv(file, skipinitialspace=True)
    except Exception as error:  # pandas and pyarrow raise many kinds on malformed input
        reason = str(error).strip().splitlines()[0].removeprefix("Error tokenizing data. C error: ")
        reason = re.sub(
            r"(starting )?at row (\d+)", lambda m: f"in line {int(m[2]) + 1}", reason
        )  # pandas counts from 0
        raise UserError(f"{file} cannot be read as {file.suffix[1:] or 'CSV'}: {reason}") from None


def box_corners(table: pd.DataFrame, path: str) -> np.ndarray:
    """The boxes as float [rows, 4]; a corner that is no number is named by its line."""
    import pandas as pd

    corners = table[BOX].apply(pd.to_numeric, errors="coerce")
    wrong = np.flatnonzero((corners.isna() & table[BOX].notna()).any(axis=1))
    if len(wrong):
        corner = table[BOX].iloc[int(wrong[0])].tolist()
        raise UserError(
            f"{path} line {wrong[0] + 2}: expected x0, y0, x1, y1 as numbers, got {', '.join(map(str, corner))}"
        )
    return corners.to_numpy(float)


def below(root: Path, path: str, where: str) -> Path:
    """The path under `root`; one that leaves it is refused."""
    try:
        full = (root / path).resolve()
    except (ValueError, OSError, RuntimeError):  # a NUL byte, a name too long, a loop of links
        raise UserError(f"{where}: '{path[:60]}' is not a path") from None
    if not full.is_relative_to(root.resolve()):
        raise UserError(f"{where}: path '{path}' leaves {root}; add ?root=DIR to name the folder it may be in")
    return full


def _photo(path: Path, mask: Path | None, boxes: np.ndarray | None) -> Photo | Unreadable:
    photo = decode_file(path)
    if isinstance(photo, Unreadable):
        return photo
    photo = replace(photo, boxes=boxes)
    if mask is None:
        return photo
    try:
        with Image.open(mask) as image:
            values = np.asarray(image.convert("L")) > 127
    except Exception as error:  # Pillow's decoders raise many kinds on damaged files
        return Unreadable(f"its mask {mask.name} cannot be decoded: {error}")
    if values.shape != photo.image.shape[:2]:
        return Unreadable(
            f"its mask is {values.shape[0]}x{values.shape[1]}, the image {photo.image.shape[0]}x{photo.image.shape[1]}"
        )
    return replace(photo, maps={"mask": values})
