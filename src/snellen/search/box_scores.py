"""Scores of detection: whether the object of each edited image is detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch
from snellen.search.image_fitness import Move
from snellen.search.scores import Ask

if TYPE_CHECKING:
    from torch import Tensor

MOST_BOXES = 60  # true boxes of one image: each is a bit of a number while they are moved


@dataclass
class Detection:
    """1 where a detected box overlaps a true one by an IoU of at least `iou`, else 0; without `boxes` wherever anything is
    detected. Where an edit moved all true boxes out of the picture it is 1.

    `boxes` are float [N, most, 4], nan where an image has fewer, in pixels, maximum exclusive.
    """

    detector: Ask
    boxes: Tensor | None = None
    iou: float = 0.5

    def __call__(self, images: Tensor, rows: Tensor) -> Tensor:
        return self.in_place(images, rows, None)

    def in_place(self, images: Tensor, rows: Tensor, move: Move | None) -> Tensor:
        answers = self.detector(images).double()
        if self.boxes is None:
            return (~answers[..., 0].isnan()).any(1).float().to(images.device)
        truth = self.boxes[rows.to(self.boxes.device)].to(answers.device)
        if move is not None:
            truth = _moved_boxes(truth, images.shape[2:], move)
        overlaps = (box_iou(answers, truth) >= self.iou).flatten(1).any(1)
        return (overlaps | truth[..., 0].isnan().all(1)).float().to(images.device)


def finds(detector: Ask, boxes: Sequence[np.ndarray] | None = None, iou: float = 0.5) -> Detection:
    """The score of detection: 1 where some detected box matches a true one, else 0.

    `boxes` are the true ones, one array [k, 4] of x0, y0, x1, y1 per image. Without them any detection counts, as for the faces
    of Volpi & Murino (2019, section 5.4): every image there shows one.
    """
    if not 0 < iou <= 1:
        raise ValueError(f"expected an IoU above 0 and up to 1, got {iou:g}")
    if boxes is None:
        return Detection(detector, None, iou)
    counts = [len(some) for some in boxes]
    if not all(1 <= count <= MOST_BOXES for count in counts):
        row = next(row for row, count in enumerate(counts) if not 1 <= count <= MOST_BOXES)
        raise ValueError(f"expected 1 to {MOST_BOXES} boxes in every image, got {counts[row]} in number {row}")
    padded = np.full((len(boxes), max(counts, default=0), 4), np.nan)
    for row, some in enumerate(boxes):
        padded[row, : len(some)] = some
    return Detection(detector, torch.from_numpy(padded), iou)


def box_iou(first: Tensor, second: Tensor) -> Tensor:
    """[n, a, b]: the intersection over union of boxes [n, a, 4] and [n, b, 4]; 0 where one is nan or empty."""
    one, other = first[:, :, None], second[:, None]
    sides = (torch.minimum(one[..., 2:], other[..., 2:]) - torch.maximum(one[..., :2], other[..., :2])).clamp(min=0)
    shared = sides.prod(-1)
    areas = [(boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1) for boxes in (one, other)]
    return (shared / (areas[0] + areas[1] - shared)).nan_to_num(0.0, 0.0)


def _moved_boxes(boxes: Tensor, size: Sequence[int], move: Move) -> Tensor:
    """The boxes around what edits make of the pixels inside them, to a pixel; nan for one that left the picture."""
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
