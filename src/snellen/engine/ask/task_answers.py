"""Answers of segmentation and detection models: their score, what is counted of them, and pictures of some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.distort import Distortion, View, moved
from snellen.distort.chain import stages_of
from snellen.distort.distortion import Moving
from snellen.engine.keep.class_colours import picture_of_boxes, picture_of_classes
from snellen.engine.requests.cell import BoundCell
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.box_match import any_box, meets, moved_boxes, padded_boxes
from snellen.models.pixel_counts import class_counts, in_data_classes, right_share

if TYPE_CHECKING:
    from torch import Tensor

Move = Callable[["Tensor"], "Tensor"]  # maps [n, H, W], one per image → moved as the distortion moves the images


class TaskScores(NamedTuple):
    """Per image its score, float64 [n], nan where nothing can be right or wrong; for segmentation also the true positives,
    false positives and false negatives of each class, int64 [n, classes, 3]."""

    score: Tensor
    counts: Tensor | None


@dataclass(frozen=True)
class TaskTruth:
    """What some images show: label maps [n, H, W] (class + 1, 0 for no label) or boxes float [n, most, 4] (nan for none);
    neither where any detection counts."""

    label_maps: Tensor | None = None
    boxes: Tensor | None = None

    def at(self, rows: Tensor | slice, move: Move | None = None, size: Sequence[int] = ()) -> TaskTruth:
        """The truth of some rows, moved along with images of this size."""
        if self.label_maps is not None:
            maps = self.label_maps[rows]
            return TaskTruth((maps if move is None else move(maps)).long())
        if self.boxes is not None:
            boxes = self.boxes[rows]
            return TaskTruth(None, boxes if move is None else moved_boxes(boxes, size, move))
        return self

    def known(self, count: int) -> np.ndarray:
        """bool [count]: the images of which it can be said whether an answer is right."""
        if self.label_maps is not None:
            return (self.label_maps > 0).flatten(1).any(1).cpu().numpy()
        return np.ones(count, bool) if self.boxes is None else any_box(self.boxes).cpu().numpy()


def truth_of(task: str, label_maps: Tensor | None, boxes: Sequence[np.ndarray] | None, device: Any) -> TaskTruth:
    """What the model's task is about, of all that is known of some images, on the device; boxes without a pixel on the canvas
    are none."""
    if task == "segmentation":
        if label_maps is None:
            raise ValueError("expected images with label maps")
        return TaskTruth(label_maps.to(device, non_blocking=True))
    if boxes is None:
        return TaskTruth()
    inside = [np.asarray(some, np.float64).reshape(-1, 4) for some in boxes]
    return TaskTruth(
        None, padded_boxes([corners[(corners[:, 2:] > corners[:, :2]).all(1)] for corners in inside]).to(device)
    )


def move_of(distortion: Distortion, view: View) -> Move | None:
    """How a distortion moves what is known of the images of a view; None where it moves nothing."""
    if not any(isinstance(stage, Moving) for stage in stages_of(distortion)):
        return None
    return lambda maps: moved(distortion, maps, view)


def score_answers(bound: BoundCell, answers: Tensor, truth: TaskTruth) -> TaskScores:
    """How right answers are: the share of labelled pixels, or whether the object is found."""
    if truth.label_maps is not None:
        labelled = truth.label_maps.to(answers.device)
        if answers.shape != labelled.shape:
            raise UserError(
                f"model '{bound.subject.name}' answered class maps {list(answers.shape)} under {bound.distortion}; expected "
                f"{list(labelled.shape)}"
            )
        classes = in_data_classes(answers, bound.labels)
        return TaskScores(right_share(classes, labelled), class_counts(classes, labelled, bound.labels.classes))
    if truth.boxes is None:
        return TaskScores(any_box(answers).double(), None)
    boxes = truth.boxes.to(answers.device)
    right = meets(answers, boxes).double()
    return TaskScores(torch.where(any_box(boxes), right, torch.nan), None)


@dataclass(frozen=True)
class PanelScore:
    """The score of edited images in a search: where all of the truth was moved out of the picture it is 1."""

    bound: BoundCell
    ask: Callable[[Tensor], Tensor]
    truth: TaskTruth

    def __call__(self, images: Tensor, rows: Tensor) -> Tensor:
        return self.in_place(images, rows, None)

    def in_place(self, images: Tensor, rows: Tensor, move: Move | None) -> Tensor:
        truth = self.truth.at(rows, move, images.shape[2:])
        return score_answers(self.bound, self.ask(images), truth).score.nan_to_num(1.0).to(images.device)


def draw_answer(bound: BoundCell, pixels: Tensor, answer: Tensor, truth: TaskTruth, score: float) -> np.ndarray:
    """A small picture uint8 [3, h, w] of one answer: the classes of pixels, or the image with true and detected boxes."""
    if truth.label_maps is not None:
        return picture_of_classes(in_data_classes(answer[None], bound.labels)[0].cpu().numpy())
    boxes = np.zeros((0, 4)) if truth.boxes is None else truth.boxes[0].cpu().numpy()
    return picture_of_boxes(pixels.cpu().numpy(), boxes, answer.cpu().numpy(), score == 1)


def draw_truth(truth: TaskTruth) -> np.ndarray | None:
    """A small picture of one label map; None where there is none."""
    return None if truth.label_maps is None else picture_of_classes(truth.label_maps[0].cpu().numpy() - 1)
