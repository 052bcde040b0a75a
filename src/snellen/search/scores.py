"""Scores of classification: whether each edited image is answered rightly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.lazy_torch import torch
from snellen.models.labels import LabelMap
from snellen.search.image_fitness import Score

if TYPE_CHECKING:
    from torch import Tensor

Ask: TypeAlias = "Callable[[Tensor], Tensor]"  # images uint8 [n, 3, H, W] → what a model of the task answers


def correct(model: Ask, labels: np.ndarray | Tensor, label_map: LabelMap | None = None) -> Score:
    """1 where the class is right, else 0; `labels` int [N] are of all images, −1 is never right.

    `label_map` turns the model's classes into those of the labels.
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
