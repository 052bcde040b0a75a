"""Tuples of edits on batches of training images, and on their label maps where an edit moves pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort import Moving, View
from snellen.distort.chain import moved, stages_of
from snellen.distort.photometric.programs import programs_for
from snellen.lazy_torch import torch
from snellen.search.fitness import Edits
from snellen.search.image_fitness import distortion_of
from snellen.train.mixing import IGNORE

if TYPE_CHECKING:
    from torch import Tensor


def edit_batch(edits: Edits, images: Tensor, labels: Tensor, view: View) -> tuple[Tensor, Tensor]:
    """uint8 images [B, 3, H, W] under one tuple of edits, and their labels: maps [B, H, W] move along with the pixels."""
    if not edits:
        return images, labels
    shown = distortion_of(edits)(images, view)
    return shown, move_labels(edits, labels, view) if labels.ndim > 1 else labels


def move_labels(edits: Edits, maps: Tensor, view: View) -> Tensor:
    """Label maps [B, H, W] as the edits move pixels; what comes from outside the image does not count."""
    distortion = distortion_of(edits)
    if not any(isinstance(stage, Moving) for stage in stages_of(distortion)):
        return maps
    inside = moved(distortion, torch.ones_like(maps, dtype=torch.uint8), view)
    return torch.where(inside > 0, moved(distortion, maps, view), IGNORE)


def edit_samples(tuples: Sequence[Edits], images: Tensor, labels: Tensor, view: View) -> tuple[Tensor, Tensor]:
    """The same with a tuple for each image; images that share one are edited together."""
    owners: dict[Edits, list[int]] = {}
    for row, edits in enumerate(tuples):
        owners.setdefault(edits, []).append(row)
    if len(owners) == 1:
        return edit_batch(tuples[0], images, labels, view)
    programs = programs_for([distortion_of(edits) for edits in owners], images)
    if programs is not None:  # photometric alone: the labels stay
        numbers = {edits: number for number, edits in enumerate(owners)}
        rows = torch.arange(len(images), device=images.device)
        return programs(images, rows, torch.tensor([numbers[edits] for edits in tuples], device=images.device)), labels
    images, labels = images.clone(), labels.clone()
    for edits, members in owners.items():
        rows = torch.tensor(members, device=images.device)
        images[rows], labels[rows] = edit_batch(edits, images[rows], labels[rows], view.at(np.array(members)))
    return images, labels
