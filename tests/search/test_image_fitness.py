"""The fitness of edits on images, against a loop over tuples and images."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from snellen.distort import View, apply
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness

COUNT = 23
IMAGES = torch.randint(0, 256, (COUNT, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
IDS = [f"image{row}" for row in range(COUNT)]
TUPLES: list[Edits] = [
    (), ("brightness(0.6)",), ("red(40)", "contrast(1.4)"), ("occlude(0.25,black)", "invert()"), ("noise(0.2)", "blue(-30)"),
]  # fmt: skip


def redness(pixels: Tensor, rows: Tensor) -> Tensor:
    """A score that tells images, edits and rows apart."""
    return (pixels[:, 0].float().mean((1, 2)) / 255 + rows / COUNT) / 2


@pytest.mark.parametrize("batch", [1, 5, COUNT, 40, 1000])
@pytest.mark.parametrize("samples", [None, [3, 4, 5], [20, 1, 7, 8]])
def test_several_tuples_at_once_are_as_one_by_one(batch: int, samples: list[int] | None) -> None:
    largest = []

    def score(pixels: Tensor, rows: Tensor) -> Tensor:
        largest.append(len(pixels))
        return redness(pixels, rows)

    fitness = ImageFitness(IMAGES, score, View.of(IDS, 5), batch)
    rows = np.arange(COUNT) if samples is None else np.array(samples)
    values = fitness.many(TUPLES, None if samples is None else rows)
    for edits, value in zip(TUPLES, values):
        pixels = apply(" | ".join(edits) or "none()", IMAGES, IDS, 5)
        assert value == pytest.approx(float(redness(pixels, torch.arange(COUNT))[rows].double().mean()), abs=1e-6)
    images = len(TUPLES) * len(rows)
    assert fitness.images_shown == sum(largest) == images
    assert len(largest) == -(-images // batch)  # every batch but the last is full
    assert fitness(TUPLES[2]) == pytest.approx(fitness.many(TUPLES)[2])


def test_weights_count_images_and_without_any_the_fitness_is_0() -> None:
    """The mean of the images of a weight, each as often as it says."""
    weights = torch.zeros(COUNT)
    weights[[2, 5]] = torch.tensor([1.0, 3.0])
    fitness = ImageFitness(IMAGES, redness, View.of(IDS, 5), 7, weights=weights)
    score = redness(apply("invert()", IMAGES, IDS, 5), torch.arange(COUNT)).double()
    assert fitness(("invert()",)) == pytest.approx(float(score[2] + 3 * score[5]) / 4, abs=1e-6)
    assert fitness.many([("invert()",)], np.array([5])) == pytest.approx([float(score[5])], abs=1e-6)
    assert fitness.many([("invert()",), ()], np.array([0, 1])) == [0.0, 0.0]
