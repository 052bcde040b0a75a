"""How well a network under training does on some training images under a tuple of edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort import View
from snellen.lazy_torch import torch
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness
from snellen.train.device_dataset import Memory
from snellen.train.mixing import IGNORE
from snellen.train.shift.edit_batch import move_labels

if TYPE_CHECKING:
    from torch import Tensor

Classify = Callable[["Tensor"], "Tensor"]  # images uint8 [n, 3, H, W] → the most likely class of each, or of each pixel
PIXELS = 512 * 32 * 32  # in one pass


def search_rows(count: int, wanted: int, seed: int) -> np.ndarray:
    """The rows of the images that searches show: `wanted` of `count`, drawn from the seed, in order."""
    return np.sort(np.random.default_rng([seed, count, 3]).permutation(count)[:wanted])


def network_fitness(classify: Classify, memory: Memory, view: View, least: int) -> ImageFitness:
    """Accuracy on images, or on those of their pixels that count. A pass shows at least `least` images, as an update does."""
    height, width = memory.size
    batch = max(least, PIXELS // (height * width))
    if memory.labels.ndim > 1:
        return PixelFitness(
            memory.images, lambda images, rows: images, view, batch, maps=memory.labels, classify=classify
        )
    labels = memory.labels
    return ImageFitness(memory.images, lambda images, rows: (classify(images) == labels[rows]).float(), view, batch)


@dataclass
class PixelFitness(ImageFitness):
    """The share of pixels that count (not −100) whose most likely class is their label; `maps` are int [N, H, W].

    Where an edit moves pixels their labels move along, and each image weighs by the pixels that counted before.
    """

    maps: Tensor = field(kw_only=True)
    classify: Classify = field(kw_only=True)

    def __post_init__(self) -> None:
        count = (self.maps != IGNORE).flatten(1).sum(1).double()
        self.weight = count * len(count) / count.sum().clamp(min=1)
        self.moved_maps: list[Tensor] = []
        self.score = self._score

    def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
        return [
            min(1.0, value) for value in super().many(tuples, samples)
        ]  # weights may sum to a rounding error over 1

    def edit(self, edits: Edits, rows: np.ndarray) -> Tensor:
        self.moved_maps.append(move_labels(edits, self.maps[self._on_device(rows)], self.view.at(rows)))
        return super().edit(edits, rows)

    def _score(self, images: Tensor, rows: Tensor) -> Tensor:
        maps = torch.cat(self.moved_maps)
        self.moved_maps.clear()
        counts = maps != IGNORE
        right = ((self.classify(images) == maps) & counts).flatten(1).sum(1)
        return right / counts.flatten(1).sum(1).clamp(min=1) * self.weight[rows]
