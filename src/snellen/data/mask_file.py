"""Masks in files of their own: npy arrays that are not 0, or images whose bright pixels are the object."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from snellen.data.dataset import Unreadable
from snellen.errors import UserError
from snellen.files.npz import read_npy
from snellen.files.picture import open_image, read_image


def read_mask(file: Path, shape: tuple[int, int] | None, sort: str = "unreadable") -> np.ndarray | Unreadable:
    """bool [H, W]: the mask of an image of this shape (None: of any), or why there is none, as that `sort` of trouble."""
    try:
        mask = _from_npy(file) if file.suffix == ".npy" else _from_image(file)
    except UserError as error:
        return Unreadable(f"its mask {file.name} cannot be read: {error}", sort)
    if shape is not None and mask.shape != shape:
        return Unreadable(f"its mask {file.name} is {mask.shape}, the image {shape}", sort)
    return mask


def _from_npy(file: Path) -> np.ndarray:
    values = read_npy(file, "mask")
    if values.dtype.kind not in "biuf":
        raise UserError(f"expected truth values or numbers, got {values.dtype}")
    return values > 0


def _from_image(file: Path) -> np.ndarray:
    with open_image(read_image(file, "mask")) as image:
        return np.asarray(image.convert("L")) > 127
