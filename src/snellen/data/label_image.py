"""Label images: what each pixel shows, as whole numbers in a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from snellen.data.dataset import Unreadable
from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.picture import open_image, read_image
from snellen.files.plain import NotRead


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
