"""`stl:DIR?split=test` or `stl:file.bin`: the binary files of STL-10 (Coates et al. 2011).

A file of images holds 96 × 96 × 3 bytes for each: red, green and blue, column by column. Beside it, `test_y.bin` for
`test_X.bin`, is a byte per image with its class, counted from 1; `?labels=FILE` names another. `class_names.txt` may lie
beside them too. The images of `unlabeled_X.bin` have no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset, filter_rows
from snellen.data.names import read_names
from snellen.errors import UserError
from snellen.files import MIB, expand_home, read_bytes
from snellen.files.places import exists, is_folder
from snellen.files.plain import map_bytes
from snellen.hashing import file_sha256, key_of

CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
SIDE = 96  # pixels
SPLITS = ("train", "test", "unlabeled")


def load_stl(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of a file, mapped, in its order; `options` filter them, as in `?label=cat`."""
    place, conditions = expand_home(path), dict(options)
    file = _image_file(place, conditions.pop("split", None))
    named = conditions.pop("labels", None)
    images = _images(file)
    names = place if is_folder(place) else file.parent
    classes = read_names(names / "class_names.txt") if exists(names / "class_names.txt") else CLASSES
    files = [file]
    if named is None and file.name == "unlabeled_X.bin":
        labels = np.full(len(images), -1, np.int64)
    else:
        files.append(expand_home(named) if named is not None else _beside(file))
        labels = _labels(files[1], len(images), classes)
    marks = [file_sha256(each) for each in files]  # last, since it reads gigabytes
    content = {"images": images, "labels": labels, "classes": np.array(classes)}
    return filter_rows(from_arrays(content, f"stl:{path}", key_of(["stl", *marks, classes])), conditions)


def _image_file(place: Path, split: str | None) -> Path:
    """The file of images that a path and a split name."""
    if is_folder(place):
        if split not in (None, *SPLITS):
            raise UserError(f"'{place}' has no split '{split}'; expected one of {', '.join(SPLITS)}")
        return place / f"{split or 'test'}_X.bin"
    if split is not None:
        raise UserError(f"?split= chooses among the files of a folder, but '{place}' is none; leave it out")
    return place


def _images(file: Path) -> np.ndarray:
    """uint8 [N, 96, 96, 3], a view of the mapped file."""
    content = map_bytes(file, "file of images")
    row = 3 * SIDE * SIDE
    if not content.size or content.size % row:
        raise UserError(f"{file} has {content.size:,} bytes; expected {row:,} for each image of {SIDE}x{SIDE} pixels")
    return content.reshape(-1, 3, SIDE, SIDE).transpose(0, 3, 2, 1)


def _labels(file: Path, count: int, classes: tuple[str, ...]) -> np.ndarray:
    """int64 [count]: the classes of the images, counted from 0."""
    values = np.frombuffer(read_bytes(file, "file of labels", 16 * MIB), np.uint8)
    if len(values) != count:
        raise UserError(f"{file} has {len(values):,} labels; expected one for each of the {count:,} images")
    wrong = np.flatnonzero((values < 1) | (values > len(classes)))
    if len(wrong):
        row = int(wrong[0])
        raise UserError(f"{file}: label {values[row]} of image {row} is outside 1 to {len(classes)}, the classes")
    return values.astype(np.int64) - 1


def _beside(file: Path) -> Path:
    """The file of labels that belongs to one of images by its name."""
    if not file.stem.endswith("X"):
        raise UserError(f"which labels belong to {file}? name their file, as in stl:{file.name}?labels=FILE")
    return file.with_name(f"{file.stem[:-1]}y{file.suffix}")
