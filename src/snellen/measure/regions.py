"""Regions of images: boxes and masks beside maps, brought into one form and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Boxes = Sequence[ArrayLike] | NDArray[Any]
"""Per image a list of boxes x0, y0, x1, y1 in pixels, maximum exclusive; or masks [B, H, W], true inside."""


def checked_maps(maps: ArrayLike) -> NDArray[Any]:
    """Maps [B, H, W] as they are given; those with a negative value are refused."""
    heat = np.asarray(maps)
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
    if _are_masks(boxes, shape):
        masks = np.asarray(boxes).astype(bool)
        if masks.shape != shape:
            raise ValueError(f"expected masks of the maps' shape {list(shape)}, got {list(masks.shape)}")
        return masks
    count, height, width = shape
    masks = np.zeros(shape, bool)
    rows, columns = np.arange(height) + 0.5, np.arange(width) + 0.5
    for mask, own in zip(masks, _corners(boxes, count)):
        for x0, y0, x1, y1 in own:
            mask |= ((rows >= y0) & (rows < y1))[:, None] & ((columns >= x0) & (columns < x1))
    return masks


def region_boxes(boxes: Boxes, shape: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Each image's boxes, float [n, 4], cut to the image, without those of which nothing is left; of a mask the box around
    it."""
    count, height, width = shape
    if _are_masks(boxes, shape):
        around = tight_boxes(region_masks(boxes, shape)).astype(np.float64)
        return [box[None][box[None, 2] > box[None, 0]] for box in around]
    clipped = (np.clip(own, 0, [width, height, width, height]) for own in _corners(boxes, count))
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


def _are_masks(boxes: Boxes, shape: tuple[int, ...]) -> bool:
    """Whether regions are masks: an array of truth values, or of the maps' shape."""
    if isinstance(boxes, np.ndarray):
        return boxes.ndim == 3 and (boxes.dtype == bool or boxes.shape == shape or boxes.shape[2] != 4)
    return len(boxes) > 0 and all(isinstance(mask, np.ndarray) and mask.dtype == bool for mask in boxes)


def _corners(boxes: Boxes, count: int) -> list[NDArray[np.float64]]:
    """One array [n, 4] per image."""
    if len(boxes) != count:
        raise ValueError(f"expected boxes for each of {count} maps, got {len(boxes)}")
    corners = [np.asarray(own, np.float64).reshape(-1, 4) if np.size(own) else np.zeros((0, 4)) for own in boxes]
    if any(np.isnan(own).any() for own in corners):
        raise ValueError("expected boxes of numbers, got nan")
    return corners
