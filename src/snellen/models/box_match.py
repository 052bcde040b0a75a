"""Detected boxes against true ones: whether an object is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

IOU = 0.5  # from which a detected box meets a true one
BITS = 60  # boxes that one number marks while they are moved


def padded_boxes(boxes: Sequence[np.ndarray]) -> Tensor:
    """float64 [n, most, 4]: the boxes of each image, and nan where it has fewer than the most."""
    padded = np.full((len(boxes), max(map(len, boxes), default=0), 4), np.nan)
    for row, some in enumerate(boxes):
        padded[row, : len(some)] = some
    return torch.from_numpy(padded)


def any_box(boxes: Tensor) -> Tensor:
    """bool [n]: which images have a box at all."""
    return (~boxes[..., 0].isnan()).any(1)


def meets(answers: Tensor, truth: Tensor, iou: float = IOU) -> Tensor:
    """bool [n]: where a detected box [n, a, 4] overlaps a true one [n, b, 4] by an IoU of at least that."""
    return (box_iou(answers.double(), truth.to(answers.device)) >= iou).flatten(1).any(1)


def box_iou(first: Tensor, second: Tensor) -> Tensor:
    """[n, a, b]: the intersection over union of boxes [n, a, 4] and [n, b, 4]; 0 where one is nan or empty."""
    left, right = first[:, :, None], second[:, None]
    sides = (torch.minimum(left[..., 2:], right[..., 2:]) - torch.maximum(left[..., :2], right[..., :2])).clamp(min=0)
    shared = sides.prod(-1)
    areas = [(boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1) for boxes in (left, right)]
    return (shared / (areas[0] + areas[1] - shared)).nan_to_num(0.0, 0.0)


def moved_boxes(boxes: Tensor, size: Sequence[int], move: Callable[[Tensor], Tensor]) -> Tensor:
    """The boxes [n, b, 4] around what `move`, of maps [n, H, W], makes of the pixels inside them, to a pixel; nan for one that
    left the picture of this size."""
    parts = [_moved_some(some, size, move) for some in boxes.split(BITS, 1)]
    return torch.cat(parts, 1) if parts else boxes


def _moved_some(boxes: Tensor, size: Sequence[int], move: Callable[[Tensor], Tensor]) -> Tensor:
    height, width = size
    rows = torch.arange(height, device=boxes.device).view(1, 1, -1, 1) + 0.5
    columns = torch.arange(width, device=boxes.device).view(1, 1, 1, -1) + 0.5
    left, top, right, bottom = (boxes[..., place, None, None] for place in range(4))
    inside = (columns >= left) & (columns < right) & (rows >= top) & (rows < bottom)  # nan is nowhere
    bits = 1 << torch.arange(boxes.shape[1], device=boxes.device).view(1, -1, 1, 1)
    after = (move((inside * bits).sum(1))[:, None] & bits) != 0
    down, across = after.any(3), after.any(2)
    edges = [across.int().argmax(2), down.int().argmax(2)]
    ends = [width - across.flip(2).int().argmax(2), height - down.flip(2).int().argmax(2)]
    outlines = torch.stack([*edges, *ends], 2).to(boxes.dtype)
    return torch.where(after.flatten(2).any(2)[..., None], outlines, torch.nan)
