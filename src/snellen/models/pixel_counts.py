"""Class maps against label maps: which pixels are right, and how many of each class.

Label maps are class + 1, 0 where a pixel has no label, so that what an edit moves into the picture from outside counts nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_torch import torch
from snellen.models.labels import LabelMap

if TYPE_CHECKING:
    from torch import Tensor


def in_data_classes(answers: Tensor, label_map: LabelMap | None) -> Tensor:
    """int64 [n, H, W]: a model's class maps as classes of the data, −1 for one that these do not have."""
    if label_map is None or label_map.targets is None:
        return answers
    targets = torch.tensor([*label_map.targets, -1], device=answers.device)
    known = (answers >= 0) & (answers < len(label_map.targets))
    return targets[torch.where(known, answers, len(label_map.targets))]


def right_share(answers: Tensor, truth: Tensor) -> Tensor:
    """float64 [n]: the share of labelled pixels whose class is right; nan for an image without a labelled pixel."""
    labelled = truth > 0
    right = (labelled & (answers + 1 == truth)).flatten(1).sum(1)
    return right.double() / labelled.flatten(1).sum(1)


def class_counts(answers: Tensor, truth: Tensor, classes: int) -> Tensor:
    """int64 [n, classes, 3]: of the labelled pixels of each image the true positives, false positives and false negatives of
    each class. An answer that is none of the classes is a false negative of the true one and nothing else."""
    labelled = truth > 0
    image = torch.arange(len(truth), device=truth.device).view(-1, 1, 1) * classes
    right = labelled & (answers + 1 == truth)
    stated = labelled & ~right & (answers >= 0) & (answers < classes)

    def count(of: Tensor, where: Tensor) -> Tensor:
        return torch.bincount((image + of)[where], minlength=len(truth) * classes).view(len(truth), classes)

    return torch.stack([count(answers, right), count(answers, stated), count(truth - 1, labelled & ~right)], 2)


def confusion_of(answers: Tensor, truth: Tensor, classes: int) -> Tensor:
    """int64 [n, classes, classes + 1]: pixels by true class and answer, the last of which is none of the classes."""
    outside = (answers < 0) | (answers >= classes)
    image = torch.arange(len(truth), device=truth.device).view(-1, 1, 1) * classes
    places = (image + truth - 1) * (classes + 1) + torch.where(outside, classes, answers)
    counts = torch.bincount(places[truth > 0], minlength=len(truth) * classes * (classes + 1))
    return counts.view(len(truth), classes, classes + 1)
