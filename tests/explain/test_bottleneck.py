"""The arithmetic of the information bottleneck against worked numbers, NumPy and torch's own convolution."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from snellen.explain.bottleneck import BottleneckFit, Smoothing, capacity, gaussian_weights, smoothing_matrix
from snellen.explain.feature_grid import finite, unit_maps
from snellen.explain.statistics import Welford, statistics_of


def test_capacity_has_the_published_values_at_half_signal() -> None:
    """−½ (1 + log ¼ − (r/2)² − ¼) for r = 0, 1, 2."""
    values = capacity(torch.full((3,), 0.5), torch.tensor([0.0, 1.0, 2.0]))
    assert np.allclose(values, [0.3181472, 0.4431472, 0.8181472], atol=1e-6)


def test_nothing_passes_where_all_is_noise_and_the_whole_signal_is_finite() -> None:
    assert float(capacity(torch.zeros(()), torch.tensor(3.0))) == 0
    assert torch.isfinite(capacity(torch.ones(()), torch.tensor(1.0)))


@settings(deadline=None)
@given(st.floats(0, 0.99), st.floats(-10, 10))
def test_capacity_is_never_negative_and_grows_with_the_distance(share: float, distance: float) -> None:
    share_of, near, far = torch.tensor(share), torch.tensor(distance), torch.tensor(distance * 1.5)
    assert float(capacity(share_of, near)) >= -1e-6
    assert float(capacity(share_of, far)) >= float(capacity(share_of, near)) - 1e-6


def test_the_kernel_has_the_published_weights() -> None:
    kernel = np.outer(gaussian_weights(1), gaussian_weights(1))
    assert kernel.shape == (5, 5)
    assert np.isclose(kernel[2, 2], 0.1621028, atol=1e-7)
    assert np.isclose(kernel[0, 0], 0.0029690, atol=1e-7)
    assert np.isclose(kernel.sum(), 1)
    assert np.array_equal(smoothing_matrix(4, 0), np.eye(4))


@pytest.mark.parametrize("sigma", [0.5, 1, 1.6])
def test_smoothing_is_a_convolution_with_reflected_borders(sigma) -> None:
    values = torch.randn(2, 3, 9, 7, generator=torch.Generator().manual_seed(0))
    kernel = torch.from_numpy(np.outer(gaussian_weights(sigma), gaussian_weights(sigma))).float()
    reach = len(kernel) // 2
    padded = nn.functional.pad(values, (reach,) * 4, mode="reflect")
    expected = nn.functional.conv2d(padded, kernel.expand(3, 1, *kernel.shape), groups=3)
    assert torch.allclose(Smoothing((9, 7), sigma, torch.device("cpu"))(values), expected, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_grids_smaller_than_the_kernel_are_smoothed_too(size) -> None:
    assert np.allclose(smoothing_matrix(size, 1).sum(1), 1)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 40), st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(0, 99))
def test_welford_equals_numpy_however_images_are_batched(count: int, sizes: list[int], seed: int) -> None:
    values = np.random.default_rng(seed).normal(3, 2, (count, 2, 3, 2)).astype(np.float32)
    values[np.random.default_rng(seed).random(values.shape) < 0.5] = 0
    values[:, 0, 0, 0] = 0
    welford, start = Welford(), 0
    for size in [*sizes, count]:
        welford.add(torch.from_numpy(values[start : start + size]))
        start += size
    known = welford.statistics()
    assert known.count == count
    assert np.allclose(known.mean, values.mean(0), atol=1e-5)
    assert np.allclose(known.std, values.std(0, ddof=1), atol=1e-5)
    assert np.array_equal(known.active, (values != 0).mean(0) > 0.01)
    assert known.positive == (values >= 0).all()


def test_one_image_in_a_hundred_is_not_enough_to_be_active() -> None:
    features = torch.zeros(200, 1, 1, 2)
    features[:2, 0, 0, 0] = 1  # exactly 1 %
    features[:3, 0, 0, 1] = 1
    assert statistics_of([features]).active.flatten().tolist() == [False, True]


def test_the_spread_of_one_image_is_not_known() -> None:
    assert statistics_of([torch.ones(1, 1, 2, 2)]).std.isnan().all()


def test_maps_of_zeros_nan_and_one_value_are_scaled() -> None:
    maps = torch.stack([torch.zeros(2, 2), torch.full((2, 2), torch.nan), torch.full((2, 2), 3.0), -torch.ones(2, 2)])
    expected = [0.0, 0.0, 1.0, 0.0]
    assert unit_maps(maps).mean((1, 2)).tolist() == expected
    assert unit_maps(torch.tensor([[[torch.inf, 1.0]]])).tolist() == [[[0.0, 0.0]]]
    assert finite(torch.tensor([torch.nan, torch.inf, 2.0])).tolist() == [0, 0, 2]


def test_each_answer_has_its_own_loss_be_it_by_logits_or_by_probabilities() -> None:
    logits, wanted = torch.randn(5, 4, generator=torch.manual_seed(0)), torch.tensor([0, 3, 1, 2, 2])
    by_hand = [-float(row.log_softmax(0)[place]) for row, place in zip(logits, wanted)]
    for probabilities, answers in ((False, logits), (True, logits.softmax(1))):
        fit = SimpleNamespace(probabilities=probabilities)
        assert BottleneckFit._losses(fit, answers, wanted).tolist() == pytest.approx(by_hand, rel=1e-5)
    sure = BottleneckFit._losses(SimpleNamespace(probabilities=True), torch.eye(4), torch.tensor([0, 0, 2, 3]))
    assert sure[[0, 2, 3]].tolist() == [0, 0, 0]
    assert 80 < float(sure[1]) < 90  # an answer of 0 costs much, but not endlessly
