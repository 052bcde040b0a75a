"""Datasets that follow MAITE's protocol for image classification, as they are; the package `maite` is not needed.

Such a dataset gives (image [C, H, W], target [classes], metadata with `id`) by position, has a length, and its `metadata` is a
dictionary with `id` and, where it names its classes, `index2label`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from snellen.errors import UserError

MOST_CLASSES = 1_000_000


def is_maite_data(dataset: Any) -> bool:
    """Whether a dataset describes itself as such a one."""
    metadata = getattr(dataset, "metadata", None)
    return isinstance(metadata, Mapping) and "id" in metadata and hasattr(dataset, "__getitem__")


def names_of(metadata: Mapping[str, Any], text: str) -> tuple[str, ...] | None:
    """The names of the classes by `index2label`; a number that it leaves out is its own name. None where it is not there."""
    names = metadata.get("index2label")
    if names is None:
        return None
    places = list(names) if isinstance(names, Mapping) else None
    whole = places and all(isinstance(place, int | np.integer) and 0 <= place < MOST_CLASSES for place in places)
    if not whole or not all(isinstance(name, str) for name in names.values()):
        raise UserError(f"{text}: expected index2label as a dictionary from the number of each class to its name")
    return tuple(names.get(place, str(place)) for place in range(max(names) + 1))


def maite_parts(item: Any, text: str) -> tuple[Any, int, str]:
    """Image, label and id of an item; −1 is the label of a target in which no class stands out."""
    if not isinstance(item, tuple | list) or len(item) != 3 or not isinstance(item[2], Mapping) or "id" not in item[2]:
        raise UserError(
            f"{text}: expected items as (image, target, metadata with 'id'), as MAITE has them, got {type(item).__name__}"
        )
    image, target, metadata = item
    values = np.asarray(target.detach().cpu() if hasattr(target, "detach") else target)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "biuf":
        raise UserError(
            f"{text}: expected targets with one value per class, as image classification has them, got "
            f"{type(target).__name__} of shape {list(values.shape)}"
        )
    highest = np.flatnonzero(values == values.max())
    return image, int(highest[0]) if len(highest) == 1 else -1, str(metadata["id"])
