"""How well a network under training does on some training images under a tuple of edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort import View
from snellen.lazy_torch import torch
from snellen.search.image_fitness import ImageFitness
from snellen.search.pixel_scores import PixelAccuracy
from snellen.train.device_dataset import Memory
from snellen.train.mixing import IGNORE

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
        numbers = torch.where(memory.labels == IGNORE, 0, memory.labels + 1)
        score = PixelAccuracy(classify, numbers, int(numbers.max()))
        return ImageFitness(memory.images, score, view, batch, weights=score.weights)
    labels = memory.labels
    return ImageFitness(memory.images, lambda images, rows: (classify(images) == labels[rows]).float(), view, batch)
