"""Upsampling: that of torch's grid_sample, and of the slow way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.concepts.upsampling import at_centres, enlarge

from .naive import enlarged


@pytest.mark.parametrize(("places", "size"), [(7, 56), (4, 10), (8, 8), (9, 4), (1, 5)])
def test_it_is_that_of_grid_sample_with_zeros_around(places: int, size: int) -> None:
    features = torch.from_numpy(np.random.default_rng(places).normal(0, 1, (2, 3, places, places)).astype(np.float32))
    turn = torch.eye(2, 3)[None].repeat(2, 1, 1)
    grid = torch.nn.functional.affine_grid(turn, [2, 3, size, size], align_corners=False)
    expected = torch.nn.functional.grid_sample(features, grid, padding_mode="zeros", align_corners=False)
    assert enlarge(features, size, size).numpy() == pytest.approx(expected.numpy(), abs=1e-5)
    assert enlarge(features, size, size).numpy() == pytest.approx(enlarged(features.numpy(), size), abs=1e-5)


def test_the_same_size_changes_nothing() -> None:
    features = torch.rand(1, 2, 5, 6)
    assert enlarge(features, 5, 6).equal(features)


def test_labels_are_those_at_the_centres_of_the_cells() -> None:
    labels = torch.arange(36).view(6, 6)
    assert at_centres(labels, 2, 3).tolist() == [[7, 9, 11], [25, 27, 29]]
    assert at_centres(labels, 6, 6).equal(labels)
    assert at_centres(torch.arange(8).view(2, 4), 1, 2).tolist() == [
        [5, 7]
    ]  # of two rows the lower, of four columns every other
