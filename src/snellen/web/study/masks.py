"""Whether a click lies on the object: the masks of a study, which no page serves."""

from __future__ import annotations

import numpy as np

from snellen.errors import UserError, concerning
from snellen.files.picture import open_image
from snellen.web.study.folder import Item, StudyFolder


def on_object(folder: StudyFolder, item: Item, x: float, y: float) -> bool | None:
    """Whether the pixel at (x, y) belongs to the object of an item; None where its mask is not known, or is empty."""
    if not item.has_mask:
        return None
    with concerning(folder.mask_file(item)), open_image(folder.mask(item)) as image:
        mask = np.asarray(image.convert("L")) > 128
    if mask.shape != (item.height, item.width):
        got, expected = (f"{width}×{height}" for height, width in (mask.shape, (item.height, item.width)))
        raise UserError(f"{folder.mask_file(item)} has {got} pixels, its picture {expected}; take it from a backup")
    return bool(mask[int(y), int(x)]) if mask.any() else None
