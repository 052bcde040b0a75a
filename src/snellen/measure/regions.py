"""Regions of images: boxes and masks beside maps, brought into one form and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.masks import as_array, is_mask, mask_values, numbers_of

Boxes = Sequence[ArrayLike] | NDArray[Any]
"""Per image a list of boxes x0, y0, x1, y1 in pixels, maximum exclusive; or masks [B, H, W], true inside.

A mask may be an array, a tensor or a picture, of truth values, 0 and 1, or 0 and 255; masks also come as a list of one, or of
one per object [n, H, W], for each image.
"""


def checked_maps(maps: ArrayLike) -> NDArray[Any]:
    """Maps [B, H, W] as they are given; those with a negative value are refused."""
    heat = as_array(maps)
    if heat.ndim != 3 or not heat.shape[1] or not heat.shape[2]:
        raise ValueError(f"expected maps [B, H, W], got an array of shape {list(heat.shape)}")
    if (heat < 0).any():
        raise ValueError(f"expected maps that are not negative, got {heat.min():g}")
    return heat


def usable(heat: NDArray[Any]) -> NDArray[np.bool_]:
    """Which maps say anything, bool [B]: finite everywhere and above 0 somewhere."""
    return np.asarray(np.isfinite(heat).all((1, 2)) & (heat > 0).any((1, 2)))


def region_masks(boxes: Boxes, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The union of each image's boxes as masks bool [B, H, W] of this shape; masks stay as they are.

    A pixel is inside where its middle is, so whole numbers are exact; what lies outside the image is cut off.
    """
    if isinstance(boxes, np.ndarray) and boxes.dtype == bool and boxes.shape == shape:
        return boxes
    masks = np.zeros(shape, bool)
    rows, columns = np.arange(shape[1]) + 0.5, np.arange(shape[2]) + 0.5
    for mask, own in zip(masks, _regions(boxes, shape)):
        if own.ndim == 3:
            mask |= own.any(0)
            continue
        for x0, y0, x1, y1 in own:
            mask |= ((rows >= y0) & (rows < y1))[:, None] & ((columns >= x0) & (columns < x1))
    return masks


def region_boxes(boxes: Boxes, shape: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Each image's boxes, float [n, 4], cut to the image, without those of which nothing is left; of a mask the box around
    it."""
    _, height, width = shape
    corners = (tight_boxes(own).astype(np.float64) if own.ndim == 3 else own for own in _regions(boxes, shape))
    clipped = (np.clip(own, 0, [width, height, width, height]) for own in corners)
    return [own[(own[:, 2:] > own[:, :2]).all(1)] for own in clipped]


def tight_boxes(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The smallest box around each mask bool [B, H, W], int64 [B, 4] as x0, y0, x1, y1, maximum exclusive; 0 where it is
    empty."""
    return spans(np.asarray(masks.any(1)), np.asarray(masks.any(2)))


def spans(columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The boxes from the first to the last true column [B, W] and row [B, H], int64 [B, 4]; 0 where there is none."""
    sides = [
        (lines.argmax(1), np.where(lines.any(1), lines.shape[1] - lines[:, ::-1].argmax(1), 0))
        for lines in (columns, rows)
    ]
    return np.stack([sides[0][0], sides[1][0], sides[0][1], sides[1][1]], axis=1)


def _regions(boxes: Boxes, shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Per image its masks, bool [n, H, W], or its boxes, float [n, 4]."""
    count, size = shape[0], shape[1:]
    whole = getattr(boxes, "shape", None)
    if not hasattr(boxes, "__len__") or whole == ():
        raise ValueError(f"expected boxes for each of {count} maps, got {type(boxes).__name__}")
    if len(boxes) != count:
        got = f"{len(boxes)}" if whole is None else f"{len(boxes)}, an array of shape {list(whole)}"
        raise ValueError(f"expected boxes for each of {count} maps, got {got}")
    if isinstance(boxes, np.ndarray) and boxes.dtype == bool and boxes.ndim == 3 and boxes.shape != shape:
        raise ValueError(f"expected masks of the maps' shape {list(shape)}, got {list(boxes.shape)}")
    regions = [_region(own, (size[0], size[1]), number) for number, own in enumerate(boxes)]
    _refuse_turned(regions)
    return regions


def _region(own: Any, size: tuple[int, int], number: int) -> NDArray[Any]:
    """One image's masks, bool [n, H, W], or boxes, float [n, 4].

    On images of four columns an array of their size is a mask where its values are a mask's; a list is one of boxes.
    """
    place = f" for image {number}"
    array = numbers_of(own, place)
    if not array.size:
        return np.zeros((0, 4))
    four = array.ndim == 2 and array.shape[1] == 4 and array.dtype != bool
    fits = array.ndim in (2, 3) and array.shape[-2:] == size
    if fits and not (four and (isinstance(own, list | tuple) or not is_mask(array))):
        return mask_values(array, place).reshape(-1, *size)
    if four or (array.shape == (4,) and array.dtype != bool):
        corners = array.astype(np.float64).reshape(-1, 4)
        if np.isnan(corners).any():
            raise ValueError(f"expected boxes of numbers, got nan{place}")
        return corners
    advice = "; leave out the score or class behind the corners" if array.shape[-1:] == (5,) and array.ndim < 3 else ""
    raise ValueError(
        f"expected boxes [n, 4] or a mask of the map's size {list(size)}, got an array of shape {list(array.shape)}"
        f"{place}{advice}"
    )


def _refuse_turned(regions: Sequence[NDArray[Any]]) -> None:
    """Raise where a box ends before it begins: it would count as none."""
    boxes = [(number, box) for number, own in enumerate(regions) if own.ndim == 2 for box in own]
    turned = [(number, box) for number, box in boxes if box[2] < box[0] or box[3] < box[1]]
    if turned:
        number, first = turned[0][0], ", ".join(f"{end:g}" for end in turned[0][1])
        raise ValueError(
            f"{len(turned)} of {len(boxes)} boxes have x1 < x0 or y1 < y0, the first is [{first}] of image "
            f"{number}; expected corners x0, y0, x1, y1, not x, y, width, height"
        )
