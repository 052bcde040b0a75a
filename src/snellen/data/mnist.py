"""`mnist:DIR?split=test` or `mnist:t10k-images-idx3-ubyte.gz`: idx files as MNIST has them (LeCun et al. 1998), packed or not.

Fashion-MNIST, KMNIST and EMNIST have the same form; `?names=FILE` gives their class names, one per line, `?labels=FILE` a file of
labels that is not named like the images, and `?transposed=true` turns images whose columns come first, as EMNIST's do.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.boxed_images import switch
from snellen.data.dataset import Dataset, filter_rows
from snellen.data.names import read_names
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.idx import read_idx
from snellen.files.places import exists, is_folder
from snellen.hashing import file_sha256, key_of

DIGITS = tuple("0123456789")
BEGINNINGS = {"test": ("t10k", "test"), "train": ("train",)}
FORMS = ("{}-images-idx3-ubyte", "{}-images.idx3-ubyte")
FOLDERS = ("", "raw", "MNIST/raw", "FashionMNIST/raw", "KMNIST/raw")  # as torchvision has them


def load_mnist(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of one split or file, in their order; `options` filter them, as in `?label=7`."""
    place, text, conditions = expand_home(path), f"mnist:{path}", dict(options)
    file = _image_file(place, conditions, text)
    named, names = conditions.pop("labels", None), conditions.pop("names", None)
    transposed = switch(conditions, "transposed", ("false", "true"), text)
    other = _label_file(file) if named is None else expand_home(named)
    images, labels = read_idx(file, "file of images"), read_idx(other, "file of labels")
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        shapes = f"{list(images.shape)} and {list(labels.shape)}"
        raise UserError(f"expected images [N, H, W] in '{file}' and N labels in '{other}', got {shapes}")
    classes = read_names(names) if names is not None else DIGITS if labels.max(initial=0) < len(DIGITS) else ()
    arrays: dict[str, np.ndarray] = {
        "images": images.transpose(0, 2, 1) if transposed == "true" else images,
        "labels": labels.astype(np.int64),
    }
    if classes:
        arrays["classes"] = np.array(classes)
    mark = key_of(["mnist", file_sha256(file), file_sha256(other), classes, transposed])
    return filter_rows(from_arrays(arrays, text, mark), conditions)


def _image_file(place: Path, conditions: dict[str, str], text: str) -> Path:
    """The file of images that a path and a split name."""
    if not is_folder(place):
        if "split" in conditions:
            raise UserError(f"?split= chooses among the files of a folder, but '{place}' is none; leave it out")
        return place
    split = switch(conditions, "split", ("test", "train"), text)
    for folder, form, beginning, ending in product(FOLDERS, FORMS, BEGINNINGS[split], ("", ".gz")):
        file = place / folder / (form.format(beginning) + ending)
        if exists(file):
            return file
    raise UserError(
        f"folder '{place}' has no {FORMS[0].format(BEGINNINGS[split][0])}, nor .gz of it; name the file of images"
    )


def _label_file(file: Path) -> Path:
    """The file of labels that belongs to one of images by its name; packed or not."""
    name = file.name.replace("images", "labels").replace("idx3", "idx1")
    if name == file.name:
        raise UserError(f"which labels belong to '{file}'? name their file, as in mnist:{file.name}?labels=FILE")
    plain = name.removesuffix(".gz")
    return next(
        (file.with_name(n) for n in (name, plain, f"{plain}.gz") if exists(file.with_name(n))),
        file.with_name(name),
    )
