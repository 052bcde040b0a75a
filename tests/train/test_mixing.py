"""CutMix: every pixel has one of two known origins, and the weights follow their law."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.train.mixing import MIXES, cutmix, mixed_loss


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbered(count: int, height: int, width: int) -> torch.Tensor:
    """Images whose every pixel says whose it is and where: channel 0 the image, 1 the row, 2 the column."""
    images = torch.empty(count, 3, height, width, dtype=torch.uint8)
    images[:, 0] = torch.arange(count)[:, None, None]
    images[:, 1] = torch.arange(height)[:, None]
    images[:, 2] = torch.arange(width)
    return images


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**40), count=st.integers(1, 9), height=st.integers(1, 40), width=st.integers(1, 40))
def test_every_pixel_is_the_images_own_or_its_partners_from_the_same_place(seed, count, height, width):
    images = numbered(count, height, width)
    before = images.clone()
    mixed, (own, partner, weight) = cutmix(images, torch.arange(count), draws(seed))
    assert torch.equal(images, before)
    assert mixed.dtype == torch.uint8
    assert torch.equal(mixed[:, 1:], images[:, 1:])
    origin = mixed[:, 0].long()
    assert ((origin == own[:, None, None]) | (origin == partner[:, None, None])).all()
    assert torch.equal(own, torch.arange(count))
    assert torch.equal(partner.sort().values, own)
    assert 0 <= weight <= 1


def boxes(count: int, side: int, seed: int) -> tuple[torch.Tensor, float]:
    """Where images of a batch show their partner, bool [count, side, side], and the weight."""
    images = numbered(count, side, side)
    mixed, (_, partner, weight) = cutmix(images, torch.arange(count), draws(seed))
    moved = partner != torch.arange(count)
    return (mixed != images).any(1)[moved], weight


@pytest.mark.parametrize("seed", range(8))
def test_a_box_that_is_not_cut_off_covers_one_minus_the_weight(seed):
    taken, weight = boxes(64, 100, seed)
    inner = taken[~(taken[:, [0, -1]].any((1, 2)) | taken[:, :, [0, -1]].any((1, 2)))]
    side = math.sqrt(1 - weight) * 100
    for box in inner:
        down, across = int(box.any(1).sum()), int(box.any(0).sum())
        assert int(box.sum()) == down * across
        assert down == across
        assert down % 2 == 0
        assert side - 1.5 <= down <= side + 0.5


def test_boxes_differ_between_images_and_are_cut_off_at_the_border_without_changing_the_weight():
    taken, weight = boxes(64, 40, seed=0)
    assert 0.1 < weight < 0.9
    shares = taken.float().mean((1, 2))
    assert len({tuple(box.flatten().tolist()) for box in taken}) > 50
    assert shares.max() == pytest.approx(1 - weight, abs=0.08)
    assert shares.min() < 0.7 * (1 - weight)


@pytest.mark.parametrize(("alpha", "variance"), [(1.0, 1 / 12), (0.2, 1 / (4 * 1.4)), (4.0, 1 / 36)])
def test_weights_follow_beta_with_mean_one_half(alpha, variance):
    """Var Beta(α, α) = 1 / (4 (2α + 1)); 2,000 draws leave a standard error below 0.01."""
    image, label, generator = torch.zeros(1, 1, 1, 1), torch.zeros(1, dtype=torch.long), draws(7)
    weights = torch.tensor([cutmix(image, label, generator, alpha)[1][2] for _ in range(2000)])
    assert weights.mean() == pytest.approx(0.5, abs=0.03)
    assert weights.var() == pytest.approx(variance, rel=0.1)


def test_the_mixed_loss_is_the_weighted_sum_worked_out_by_hand():
    logits = torch.tensor([[math.log(3.0), 0.0], [0.0, 0.0]])  # probabilities 3/4, 1/4 and 1/2, 1/2
    own, partner = torch.tensor([0, 1]), torch.tensor([1, 0])
    expected = 0.7 * (math.log(4 / 3) + math.log(2)) / 2 + 0.3 * (math.log(4) + math.log(2)) / 2
    assert float(mixed_loss(logits, (own, partner, 0.7))) == pytest.approx(expected)
    assert float(mixed_loss(logits, (own, partner, 1.0))) == pytest.approx((math.log(4 / 3) + math.log(2)) / 2)


@pytest.mark.parametrize("name", MIXES)
def test_the_same_generator_state_gives_the_same_mix(name):
    images, labels = numbered(16, 20, 20), torch.arange(16)
    first, again, other = (MIXES[name](images, labels, draws(seed), 1.0) for seed in (3, 3, 4))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1][1], again[1][1])
    assert first[1][2] == again[1][2]
    assert name == "none" or not torch.equal(first[0], other[0])


def test_mixing_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    cutmix(numbered(4, 8, 8), torch.arange(4), draws(0))
    assert torch.equal(before, torch.get_rng_state())


def test_alpha_must_be_above_zero():
    with pytest.raises(ValueError, match="expected alpha above 0, got 0"):
        cutmix(numbered(2, 8, 8), torch.arange(2), draws(0), alpha=0)
