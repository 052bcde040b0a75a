"""What each pixel shows, in files of their own: masks and label maps (whole numbers in a picture).

Of a mask image the pixels above 127 are the object, of one of 0 and one other value those that are not 0, of an npy array those
above 0. Recognised by their values are a trimap as of the Oxford-IIIT pets (1 object, 2 background, 3 border), and the labels of
Pascal VOC: numbers up to 127 beside 255, the border that counts as background. Images of several labels, of several colours of a
palette, or of other values without a pixel above 127 are refused with the question which values are the object, which `values`
answer (`?mask=1`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.dataset import Unreadable
from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.npz import read_npy
from snellen.files.picture import open_image, read_image
from snellen.files.plain import NotRead

if TYPE_CHECKING:
    from PIL.Image import Image

SAVE = "save the object as 255"  # what to do with a mask of other values
ASK = "say which values are the object, as in ?mask=1"  # the same, where data take that option
ASK_OBJECT = "say which values are the object, as in ?object=1"  # where ?mask= names what holds the masks
TRIMAP = frozenset({1, 2, 3})  # object, background, border: those of the Oxford-IIIT pets
VOID = 255  # the border of Pascal VOC
MOST_LABEL = 127  # the highest number that is a label beside it, not a brightness
WRITTEN = ("P", "L", "I;16", "I")  # modes of images whose pixels are whole numbers as they are written


def read_mask(
    file: Path,
    shape: tuple[int, int] | None,
    sort: str = "unreadable",
    values: Collection[int] = (),
    advice: str = SAVE,
) -> np.ndarray | Unreadable:
    """bool [H, W]: the mask of an image of this shape (None: of any), or why there is none, as that `sort` of trouble; `values`
    are those of the object, where they are stated, and `advice` says what to do where they do not tell."""
    try:
        mask = _from_npy(file, values) if file.suffix == ".npy" else mask_of_image(file, values, advice)
    except UserError as error:
        return Unreadable(f"its mask {file.name} cannot be read: {error}", sort)
    if shape is not None and mask.shape != shape:
        return Unreadable(f"its mask {file.name} is {mask.shape}, the image {shape}", sort)
    return mask


def mask_values(text: str, name: str = "mask") -> tuple[int, ...]:
    """The values of the object in masks, from the option `?mask=`: whole numbers with commas between them."""
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise UserError(f"expected ?{name}= as the whole numbers that are the object, such as ?{name}=1, got '{text}'")
    return tuple(int(word) for word in words)


def is_trimap(values: np.ndarray) -> bool:
    """Whether an array holds nothing but object, background and border, and a border at least."""
    return bool(values.size and values.dtype.kind in "iu" and values.min() >= 1 and values.max() == max(TRIMAP))


def labels_beside_void(values: np.ndarray) -> list[int]:
    """The labels from 1 to 127 in an array that has 255 beside them and nothing between, as masks of Pascal VOC do; none in
    any other."""
    if values.dtype.kind not in "iu" or not (values == VOID).any():
        return []
    others = np.unique(values[(values != VOID) & (values != 0)])
    return others.tolist() if others.size and others.min() > 0 and others.max() <= MOST_LABEL else []


def object_of_numbers(values: np.ndarray) -> np.ndarray:
    """bool of an array of numbers: what is above 0; of a trimap what is 1; beside labels the border 255 is none."""
    if is_trimap(values):
        return np.asarray(values == 1)
    return np.asarray((values > 0) & (values != VOID) if labels_beside_void(values) else values > 0)


def _from_npy(file: Path, wanted: Collection[int]) -> np.ndarray:
    values = read_npy(file, "mask")
    if values.dtype.kind not in "biuf":
        raise UserError(f"expected truth values or numbers, got {values.dtype}")
    return np.isin(values, list(wanted)) if wanted else object_of_numbers(values)


def mask_of_image(file: Path, wanted: Collection[int] = (), advice: str = SAVE) -> np.ndarray:
    """bool [H, W]: the object in the file of a mask image."""
    return mask_of_content(read_image(file, "mask"), wanted, advice)


def mask_of_content(content: bytes, wanted: Collection[int] = (), advice: str = SAVE) -> np.ndarray:
    """bool [H, W]: the object in an encoded mask image; `advice` says what to do where its values do not tell."""
    with open_image(content) as image:
        numbers = np.asarray(
            image if image.mode in WRITTEN else image.convert("L")
        )  # places of a palette, not its colours
        if wanted:
            return np.isin(numbers, list(wanted))
        values, lossy = np.asarray(image.convert("L")), image.format == "JPEG"
        coloured = image.mode == "P" and _has_colours(image, numbers)
    for written in (numbers, values):
        if is_trimap(written):
            return written == 1
    if labels := [] if lossy else labels_beside_void(numbers):
        if len(labels) > 1:
            raise _unclear([0, *labels, VOID], advice)
        return numbers == labels[0]
    if coloured:  # labels, whose colours have no meaning
        raise _unclear(np.unique(numbers).tolist(), advice)
    if values.max(initial=0) > 127 or lossy:  # whose dark pixels are seldom 0
        return values > 127
    present = np.unique(values).tolist()
    if len(present) > 2 or (present[0] != 0 and present != [1]):
        raise _unclear(present, advice)
    return values > 0


def _has_colours(image: Image, places: np.ndarray) -> bool:
    """Whether three or more places of a palette are used, and not all of them are grey."""
    used = np.unique(places)
    palette = np.asarray(image.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
    return len(used) > 2 and bool(np.ptp(palette[used[used < len(palette)]].astype(int), axis=1).any())


def _unclear(present: Sequence[int], advice: str) -> UserError:
    few = ", ".join(map(str, present[:6])) + (", …" if len(present) > 6 else "")
    return UserError(
        f"it has the values {few}; expected an object brighter than 127, 0 and one other value, a trimap (1 object, 2 "
        f"background, 3 border), or one label beside 255; {advice}"
    )


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
