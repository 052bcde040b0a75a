"""Scores of segmentation: how many pixels of each edited image are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch
from snellen.models.labels import LabelMap
from snellen.models.pixel_counts import confusion_of, in_data_classes, right_share
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness, Move, moves
from snellen.search.scores import Ask

if TYPE_CHECKING:
    from torch import Tensor


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
