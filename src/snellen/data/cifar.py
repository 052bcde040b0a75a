"""`cifar:DIR?split=test` or `cifar:file.bin`: the binary versions of CIFAR-10 and CIFAR-100 (Krizhevsky 2009).

For each image a byte with its label (of CIFAR-100 two: coarse and fine, `?labels=coarse`), then 32 × 32 bytes of red, green and
blue. Class names are in `batches.meta.txt`, `fine_label_names.txt` and `coarse_label_names.txt` beside the file. The Python
version consists of pickles, which run code when they are read: `torchvision:CIFAR10?root=DIR` reads it, after comparing
checksums.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.boxed_images import switch
from snellen.data.dataset import Dataset, filter_rows
from snellen.data.names import read_names
from snellen.errors import UserError
from snellen.files import GIB, expand_home, read_bytes
from snellen.files.places import exists, is_file, is_folder
from snellen.hashing import file_sha256, key_of

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PIXELS = 3 * 32 * 32
TEN = {"train": [f"data_batch_{number}.bin" for number in range(1, 6)], "test": ["test_batch.bin"]}
HUNDRED = {"train": ["train.bin"], "test": ["test.bin"]}
FOLDERS = ("cifar-10-batches-bin", "cifar-100-binary")  # as the archives have them
PICKLES = ("batches.meta", "test_batch", "meta", "test")  # files of the Python version


def load_cifar(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of one split or file, in their order; `options` filter them, as in `?label=cat`."""
    place, text, conditions = expand_home(path), f"cifar:{path}", dict(options)
    files, hundred = _files(place, conditions, text)
    kind = switch(conditions, "labels", ("fine", "coarse"), text) if hundred else ""
    row = PIXELS + (2 if hundred else 1)
    rows = np.concatenate([_rows(file, row) for file in files])
    labels = rows[:, 1 if kind == "fine" else 0].astype(np.int64)
    images = np.ascontiguousarray(rows[:, row - PIXELS :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    arrays: dict[str, np.ndarray] = {"images": images, "labels": labels}
    if names := _names(files[0].parent, kind):
        arrays["classes"] = np.array(names)
    mark = key_of(["cifar", kind, [file_sha256(file) for file in files], names])
    return filter_rows(from_arrays(arrays, text, mark), conditions)


def _files(place: Path, conditions: dict[str, str], text: str) -> tuple[list[Path], bool]:
    """The files that a path and a split name, and whether they are of CIFAR-100."""
    if not is_folder(place):
        if "split" in conditions:
            raise UserError(f"?split= chooses among the files of a folder, but '{place}' is none; leave it out")
        size = len(read_bytes(place, "file of images", 4 * GIB))
        return [place], size % (PIXELS + 1) != 0 and size % (PIXELS + 2) == 0
    split = switch(conditions, "split", ("test", "train"), text)
    for folder in (place, *(place / name for name in FOLDERS)):
        for hundred, names in ((False, TEN[split]), (True, HUNDRED[split])):
            files = [folder / name for name in names]
            if exists(files[0]):
                return files, hundred
    if any(is_file(place / name) for name in PICKLES):
        hundred = exists(place / "meta")
        raise UserError(
            f"'{place}' holds the Python version, pickles, which run code when they are read; get the binary version, or write "
            f"torchvision:CIFAR{100 if hundred else 10}?root={place.parent}&split={split}, which compares checksums first"
        )
    raise UserError(
        f"folder '{place}' has neither {TEN[split][0]} nor {HUNDRED[split][0]}; give one of the binary version"
    )


def _rows(file: Path, row: int) -> np.ndarray:
    content = np.frombuffer(read_bytes(file, "file of images", 4 * GIB), np.uint8)
    if not content.size or content.size % row:
        raise UserError(
            f"expected {row:,} bytes per image in '{file}', got {content.size:,}; is it the binary version?"
        )
    return content.reshape(-1, row)


def _names(folder: Path, kind: str) -> tuple[str, ...]:
    """The names of the classes: those in the file beside the images; of CIFAR-10 they are known."""
    file = folder / (f"{kind}_label_names.txt" if kind else "batches.meta.txt")
    if exists(file):
        return read_names(file)
    return () if kind else CLASSES
