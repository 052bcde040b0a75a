"""Scores of edited images: whether the class is right, how many pixels are, whether the object is detected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.lazy_torch import torch
from snellen.models.box_match import BITS, IOU, any_box, meets, moved_boxes, padded_boxes
from snellen.models.labels import LabelMap
from snellen.models.pixel_counts import confusion_of, in_data_classes, right_share
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness, Move, Score, moves

if TYPE_CHECKING:
    from torch import Tensor

Ask: TypeAlias = "Callable[[Tensor], Tensor]"  # images uint8 [n, 3, H, W] → what a model of the task answers
MOST_BOXES = BITS  # true boxes of one image


def correct(model: Ask, labels: np.ndarray | Tensor, label_map: LabelMap | None = None) -> Score:
    """1 where the class is right, else 0; `labels` int [N] are of all images, −1 is never right.

    `label_map` turns the model's classes into those of the labels.

    >>> import numpy as np
    >>> from snellen.search import correct
    >>> import torch
    >>> def model(images):
    ...     return torch.tensor([[0.9, 0.1], [0.2, 0.8]])
    ...
    >>> score = correct(model, labels=np.array([0, 0]))
    >>> score(torch.zeros(2, 3, 4, 4, dtype=torch.uint8),
    ...     torch.arange(2)).tolist()  # the images, and which of all they are
    [1.0, 0.0]
    """
    numbers = torch.as_tensor(labels)

    def score(images: Tensor, rows: Tensor) -> Tensor:
        nonlocal numbers
        probabilities = model(images)
        numbers = numbers.to(probabilities.device)
        truth = numbers[rows.to(probabilities.device)]
        answers = probabilities.argmax(1) if label_map is None else label_map.read(probabilities, truth).pred
        return ((answers == truth) & (truth >= 0)).float().to(images.device)

    return score


@dataclass
class PixelAccuracy:
    """Per image the share of its labelled pixels whose class is right; 1 where an edit moved all of them out of the picture.

    `numbers` are the label maps, [N, H, W] on the model's device: class + 1, 0 where a pixel has no label.
    """

    model: Ask
    numbers: Tensor
    classes: int
    label_map: LabelMap | None = None

    @property
    def weights(self) -> Tensor:
        """float64 [N]: the labelled pixels of each image. A mean weighed by them is over all pixels, not over images."""
        return (self.numbers > 0).flatten(1).sum(1, dtype=torch.float64)

    def __call__(self, images: Tensor, rows: Tensor) -> Tensor:
        return self.in_place(images, rows, None)

    def in_place(self, images: Tensor, rows: Tensor, move: Move | None) -> Tensor:
        return right_share(*self._answers_and_truth(images, rows, move)).nan_to_num(1.0).to(images.device)

    def confusion(self, images: Tensor, rows: Tensor, move: Move | None = None) -> Tensor:
        """int64 [n, classes, classes + 1]: pixels by true class and answer, the last of which is none of the classes."""
        return confusion_of(*self._answers_and_truth(images, rows, move), self.classes)

    def _answers_and_truth(self, images: Tensor, rows: Tensor, move: Move | None) -> tuple[Tensor, Tensor]:
        """The model's answers as classes of the data, −1 for none, and the label maps, moved along with the images."""
        answers = self.model(images)
        truth = self.numbers[rows.to(self.numbers.device)]
        truth = (truth if move is None else move(truth)).to(answers.device, torch.int64)
        if answers.shape != truth.shape:
            raise ValueError(f"expected class maps {list(truth.shape)}, got {list(answers.shape)}")
        return in_data_classes(answers, self.label_map), truth


def pixel_accuracy(
    model: Ask,
    label_maps: np.ndarray | Tensor,
    ignore: int | Sequence[int] = (),
    label_map: LabelMap | None = None,
) -> PixelAccuracy:
    """The score of segmentation: per image the share of labelled pixels that are right.

    `label_maps` are classes, integers [N, H, W]; negative numbers and those to `ignore` are no label. An `ImageFitness` of it
    is a mean over images; with `weights=score.weights` it is over all pixels, the pixel accuracy of Long et al. (2015)
    that Volpi & Murino (2019, section 5.3) use. Both are the same where every pixel has a label.

    >>> import numpy as np
    >>> from snellen.search import pixel_accuracy
    >>> import torch
    >>> def brightest_channel(images):
    ...     return images.argmax(1)
    ...
    >>> images = torch.zeros(1, 3, 1, 2, dtype=torch.uint8)
    >>> images[0, 2, 0, 1] = 255  # a black pixel and a blue one: classes 0 and 2
    >>> score = pixel_accuracy(brightest_channel, np.array([[[0, 1]]]))
    >>> score(images, torch.arange(1)).tolist()
    [0.5]
    """
    numbers = torch.as_tensor(label_maps).to(torch.int32)
    without = torch.zeros_like(numbers, dtype=torch.bool)
    for number in [ignore] if isinstance(ignore, int) else ignore:
        without |= numbers == number
    numbers = torch.where(without | (numbers < 0), 0, numbers + 1)
    empty = (numbers == 0).flatten(1).all(1)
    if empty.any():
        raise ValueError(f"expected labelled pixels in every image, got none in number {int(empty.nonzero()[0])}")
    classes = int(numbers.max()) if label_map is None else label_map.classes
    return PixelAccuracy(model, numbers.to(torch.int16 if classes < 1 << 15 else torch.int32), classes, label_map)


def confusion(fitness: ImageFitness, edits: Edits = ()) -> np.ndarray:
    """int64 [N, classes, classes + 1]: what `snellen.measure.segmentation` takes, of all images under the edits."""
    if not isinstance(fitness.score, PixelAccuracy):
        raise ValueError("expected the fitness of a segmentation model")
    parts = []
    for start in range(0, len(fitness.images), fitness.batch):
        rows = np.arange(start, min(start + fitness.batch, len(fitness.images)))

        def move(maps: Tensor, rows: np.ndarray = rows) -> Tensor:
            return fitness.move(edits, rows, maps)

        places = torch.from_numpy(rows).to(fitness.images.device)
        counts = fitness.score.confusion(fitness.edit(edits, rows), places, move if moves(edits) else None)
        parts.append(counts.cpu().numpy())
    return np.concatenate(parts)


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

    >>> import numpy as np
    >>> from snellen.search import finds
    >>> import torch
    >>> def left_half(images):
    ...     return torch.tensor([[[0.0, 0.0, 2.0, 4.0]]])
    ...
    >>> score = finds(left_half, boxes=[np.array([[0.0, 0.0, 2.0, 3.0]])])
    >>> score(torch.zeros(1, 3, 4, 4, dtype=torch.uint8), torch.arange(1)).tolist()
    [1.0]
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
