"""`svhn:file.mat`: digits as SVHN's cropped set has them (Netzer et al. 2011), and SYN (Ganin & Lempitsky 2015) in its layout.

The MATLAB file holds `X` uint8 [height, width, 3, N] and `y`, the digits, where 10 stands for 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset, filter_rows
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.mat_file import read_mat
from snellen.hashing import file_sha256, key_of

DIGITS = tuple("0123456789")


def load_svhn(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of one file, in its order; `options` filter them, as in `?label=7`."""
    file = expand_home(path)
    arrays = read_mat(file, ("X", "y"))
    for name in ("X", "y"):
        if name not in arrays:
            raise UserError(f"{path} has no array '{name}'; expected X uint8 [height, width, 3, N] and y, the digits")
    stored = arrays["X"]
    pixels = stored[..., None] if stored.ndim == 3 else stored  # MATLAB leaves out the last index of one image
    if pixels.ndim != 4 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise UserError(
            f"{path}: expected X as uint8 [height, width, 3, N], got {pixels.dtype.name} {list(stored.shape)}"
        )
    images = pixels.transpose(3, 0, 1, 2)
    digits = _digits(np.asarray(arrays["y"]).reshape(-1), len(images), path)
    content = {"images": images, "labels": digits, "classes": np.array(DIGITS)}
    return filter_rows(from_arrays(content, f"svhn:{path}", key_of(["svhn", file_sha256(file)])), options)


def _digits(values: np.ndarray, count: int, path: str) -> np.ndarray:
    """int64 [count]: digits 0 to 9, of numbers that may be stored in any type."""
    if len(values) != count:
        raise UserError(f"{path}: expected one digit in y for each of the {count:,} images of X, got {len(values):,}")
    wrong = np.flatnonzero(~np.isin(values, np.arange(11)))
    if len(wrong):
        row = int(wrong[0])
        raise UserError(f"{path}: y of image {row} is {values[row]:g}; expected 0 to 9, or 10 for 0")
    return values.astype(np.int64) % 10
