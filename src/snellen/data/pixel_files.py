"""What each pixel shows, in files of their own: masks and label maps (whole numbers in a picture).

Of a mask image the pixels above 127 are the object, of one of 0 and one other value those that are not 0, of an npy array those
above 0. A trimap as of the Oxford-IIIT pets (1 object, 2 background, 3 border) is recognised by its values. Whatever else has no
pixel above 127 is refused, unless `values` say which are the object (`manifest:…?mask=1`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from snellen.data.dataset import Unreadable
from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.npz import read_npy
from snellen.files.picture import open_image, read_image
from snellen.files.plain import NotRead

SAVE = "save the object as 255"  # what to do with a mask of other values
TRIMAP = frozenset({1, 2, 3})  # object, background, border: those of the Oxford-IIIT pets


def read_mask(
    file: Path, shape: tuple[int, int] | None, sort: str = "unreadable", values: Collection[int] = ()
) -> np.ndarray | Unreadable:
    """bool [H, W]: the mask of an image of this shape (None: of any), or why there is none, as that `sort` of trouble; `values`
    are those of the object, where they are stated."""
    try:
        mask = _from_npy(file, values) if file.suffix == ".npy" else mask_of_image(file, values)
    except UserError as error:
        return Unreadable(f"its mask {file.name} cannot be read: {error}", sort)
    if shape is not None and mask.shape != shape:
        return Unreadable(f"its mask {file.name} is {mask.shape}, the image {shape}", sort)
    return mask


def mask_values(text: str) -> tuple[int, ...]:
    """The values of the object in masks, from the option `?mask=`: whole numbers with commas between them."""
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise UserError(f"expected ?mask= as the whole numbers that are the object, such as ?mask=1, got '{text}'")
    return tuple(int(word) for word in words)


def is_trimap(values: np.ndarray) -> bool:
    """Whether an array holds nothing but object, background and border, and a border at least."""
    return bool(values.size and values.dtype.kind in "iu" and values.min() >= 1 and values.max() == max(TRIMAP))


def _from_npy(file: Path, wanted: Collection[int]) -> np.ndarray:
    values = read_npy(file, "mask")
    if values.dtype.kind not in "biuf":
        raise UserError(f"expected truth values or numbers, got {values.dtype}")
    if wanted:
        return np.isin(values, list(wanted))
    return values == 1 if is_trimap(values) else values > 0


def mask_of_image(file: Path, wanted: Collection[int] = (), advice: str = SAVE) -> np.ndarray:
    """bool [H, W]: the object in a mask image; `advice` says what to do where its values do not tell."""
    with open_image(read_image(file, "mask")) as image:
        if wanted:  # as they are written: the places of a palette, not its colours
            return np.isin(
                np.asarray(image if image.mode in ("P", "L", "I;16", "I") else image.convert("L")), list(wanted)
            )
        values, format = np.asarray(image.convert("L")), image.format
    if is_trimap(values):
        return values == 1
    if values.max(initial=0) > 127 or format == "JPEG":  # whose dark pixels are seldom 0
        return values > 127
    present = np.flatnonzero(np.bincount(values.ravel(), minlength=1)).tolist()
    if len(present) > 2 or (present[0] != 0 and present != [1]):
        few = ", ".join(map(str, present[:6])) + (", …" if len(present) > 6 else "")
        raise UserError(
            f"it has the values {few}; expected an object brighter than 127, 0 and one other value, or a trimap (1 object, "
            f"2 background, 3 border); {advice}"
        )
    return values > 0


def label_numbers(file: Path, coloured: bool = False) -> np.ndarray | Unreadable:
    """Whole numbers [H, W]: the grey levels or palette places of an image file; of a `coloured` one red + 256 · green."""
    try:
        with open_image(read_image(file, "label map")) as image:
            values = np.asarray(image)
    except NotRead as error:
        return Unreadable(f"its label map {storable(file.name)} cannot be read: {error.reason}")
    except UserError as error:
        return Unreadable(f"its label map {storable(file.name)}: {error}")
    if coloured and values.ndim == 3 and values.dtype == np.uint8:
        values = values[:, :, 0].astype(np.int64) + 256 * values[:, :, 1].astype(np.int64)
    if values.ndim != 2 or values.dtype.kind not in "biu":
        sort = f"{values.shape[-1]} channels" if values.ndim == 3 else f"{values.dtype} pixels"
        return Unreadable(
            f"its label map {storable(file.name)} has {sort}; expected one of whole numbers (grey or palette)"
        )
    return values.astype(np.int64)
