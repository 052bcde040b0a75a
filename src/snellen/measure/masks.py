"""Masks as callers hold them: arrays, tensors, pictures and lists of these, of truth values, 0 and 1, or 0 and 255."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FULL = 255  # how pictures of masks write true


def as_array(values: Any) -> NDArray[Any]:
    """The values as an array; those of a tensor come from its device, without its gradients. A list may hold tensors."""
    if isinstance(values, list | tuple):
        values = [as_array(value) if hasattr(value, "detach") else value for value in values]
    if hasattr(values, "detach"):  # a torch tensor, which need not be imported to be known
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    return np.asarray(values)


def numbers_of(values: Any, place: str) -> NDArray[Any]:
    """The same, refused where these are no numbers; `place` says whose they are."""
    try:
        array = as_array(values)
    except (TypeError, ValueError):  # lists of unequal lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"expected boxes [n, 4] or a mask as numbers, got {type(values).__name__}{place}")
    return array


def is_mask(array: NDArray[Any]) -> bool:
    """Whether an array holds truth values, 0 and 1, or 0 and 255, and nothing else."""
    return array.dtype == bool or _odd_value(array) is None


def mask_values(array: NDArray[Any], place: str = "") -> NDArray[np.bool_]:
    """The truth values of a mask; an array of others, such as shares or class numbers, is refused."""
    if array.dtype == bool:
        return array
    if (odd := _odd_value(array)) is not None:
        raise ValueError(
            f"expected a mask of truth values, 0 and 1 or 0 and 255, got {odd:g} in an array of shape "
            f"{list(array.shape)}{place}; compare it first, such as mask > 0.5"
        )
    return array != 0


def mask_batch(masks: Any) -> NDArray[Any]:
    """The values of masks [B, H, W] that came as an array, a tensor, or a list of one per image; a channel [B, 1, H, W] goes."""
    if isinstance(masks, list | tuple) and masks:
        arrays = [numbers_of(mask, f" for image {number}") for number, mask in enumerate(masks)]
        if len(shapes := {array.shape for array in arrays}) > 1:
            raise ValueError(
                f"expected masks [B, H, W], got masks of {len(shapes)} shapes: {sorted(map(list, shapes))}"
            )
        masks = np.stack(arrays)
    array = numbers_of(masks, "")
    return array[:, 0] if array.ndim == 4 and array.shape[1] == 1 else array


def _odd_value(array: NDArray[Any]) -> float | None:
    """The first value that a mask does not have; None where all are 0 and 1, or 0 and 255."""
    full = FULL if (array == FULL).any() else 1
    odd = array[(array != 0) & (array != full)]
    return float(odd[0]) if odd.size else None
