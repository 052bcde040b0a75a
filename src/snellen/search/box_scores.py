"""Scores of detection: whether the object of each edited image is detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.models.box_match import BITS, IOU, any_box, meets, moved_boxes, padded_boxes
from snellen.search.image_fitness import Move
from snellen.search.scores import Ask

if TYPE_CHECKING:
    from torch import Tensor

MOST_BOXES = BITS  # true boxes of one image


@dataclass
class Detection:
    """1 where a detected box overlaps a true one by an IoU of at least `iou`, else 0; without `boxes` wherever anything is
    detected. Where an edit moved all true boxes out of the picture it is 1.

    `boxes` are float [N, most, 4], nan where an image has fewer, in pixels, maximum exclusive.
    """

    detector: Ask
    boxes: Tensor | None = None
    iou: float = IOU

    def __call__(self, images: Tensor, rows: Tensor) -> Tensor:
        return self.in_place(images, rows, None)

    def in_place(self, images: Tensor, rows: Tensor, move: Move | None) -> Tensor:
        answers = self.detector(images)
        if self.boxes is None:
            return any_box(answers).float().to(images.device)
        truth = self.boxes[rows.to(self.boxes.device)].to(answers.device)
        if move is not None:
            truth = moved_boxes(truth, images.shape[2:], move)
        return (meets(answers, truth, self.iou) | ~any_box(truth)).float().to(images.device)


def finds(detector: Ask, boxes: Sequence[np.ndarray] | None = None, iou: float = IOU) -> Detection:
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
    return Detection(detector, padded_boxes(boxes), iou)
