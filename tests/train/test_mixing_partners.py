"""Partners of another dataset: brought to size, used in their order, without a say in the label."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.errors import UserError
from snellen.train.mixing import CutMix, MixUp, fitted, parse_mix


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_28_pixels_become_32_with_two_a_side():
    small = torch.full((2, 3, 28, 28), 7, dtype=torch.uint8)
    padded = fitted(small, (32, 32))
    assert padded.shape == (2, 3, 32, 32)
    assert padded.dtype == torch.uint8
    assert (padded[:, :, 2:30, 2:30] == 7).all()
    assert int(padded.sum()) == int(small.sum())
    mean = fitted(small, (32, 32), mean=[1, 2.4, 3])
    assert mean[0, :, 0, 0].tolist() == [1, 2, 3]
    assert (mean[:, :, 2:30, 2:30] == 7).all()


@settings(max_examples=30)
@given(height=st.integers(1, 12), width=st.integers(1, 12), more=st.tuples(st.integers(0, 7), st.integers(0, 7)))
def test_padding_keeps_every_pixel_in_the_middle(height, width, more):
    small = torch.rand(1, 3, height, width) + 1
    padded = fitted(small, (height + more[0], width + more[1]))
    top, left = more[0] // 2, more[1] // 2
    assert torch.equal(padded[:, :, top : top + height, left : left + width], small)
    assert int((padded != 0).sum()) == small.numel()


def test_larger_partners_are_refused_or_resized():
    large = torch.full((2, 3, 64, 20), 9, dtype=torch.uint8)
    with pytest.raises(UserError, match=r"at most 32×32 pixels .* got 64×20; resize them"):
        fitted(large, (32, 32))
    with pytest.raises(UserError, match="64×20"):
        CutMix()(torch.zeros(2, 3, 32, 32), torch.arange(2), draws(0), large)
    resized = fitted(large, (32, 32), resize=True)
    assert resized.shape == (2, 3, 32, 32)
    assert resized.dtype == torch.uint8
    assert (resized == 9).all()
    ramp = torch.arange(64.0).view(1, 1, 1, 64).expand(1, 3, 64, 64)
    torch.testing.assert_close(fitted(ramp, (64, 32), resize=True)[0, 0, 0, 8:24], torch.arange(8.0, 24) * 2 + 0.5)
    assert fitted(large, (64, 20)) is large


def test_too_few_or_grey_partners_are_refused():
    images, labels = torch.zeros(4, 3, 8, 8), torch.arange(4)
    with pytest.raises(UserError, match="at least 4 partners, one per image, got 3"):
        MixUp()(images, labels, draws(0), torch.zeros(3, 3, 8, 8))
    with pytest.raises(UserError, match=r"partners \[B, 3, h, w\], got \[4, 1, 8, 8\]"):
        MixUp()(images, labels, draws(0), torch.zeros(4, 1, 8, 8))


@pytest.mark.parametrize("text", ["mixup", "cutmix", "cutmix(rule=corrected)", "fmix", "fmix(per=sample)",
                                  "random_masks", "saliencymix", "saliencymix(per=sample)"])  # fmt: skip
def test_each_image_meets_the_partner_of_its_row_and_keeps_its_own_label(text):
    images = torch.zeros(5, 3, 24, 24, dtype=torch.uint8)
    partners = torch.arange(1, 9, dtype=torch.uint8)[:, None, None, None].expand(8, 3, 24, 24)
    shown = 0
    for seed in range(8):
        mixed, targets = parse_mix(text)(images, torch.arange(5), draws(seed), partners)
        assert torch.equal(targets.own, torch.arange(5))
        assert targets.partner is targets.own
        assert (targets.weight == 1).all()
        if text == "mixup":
            torch.testing.assert_close(mixed.amax((1, 2, 3)) / mixed.amax(), torch.arange(1, 6) / 5)
            continue
        for row, image in enumerate(mixed):
            assert set(image.unique().tolist()) <= {0, row + 1}
            shown += int((image != 0).any())
    assert text == "mixup" or shown > 15


def test_partners_take_the_type_of_the_images_and_the_mean_as_padding():
    images = torch.full((3, 3, 32, 32), 50.0)
    digits = torch.full((3, 3, 28, 28), 200, dtype=torch.uint8)
    mixed, _ = CutMix(alpha=0.05)(images, torch.arange(3), draws(1), digits, mean=torch.tensor([120.5, 120.5, 120.5]))
    assert mixed.dtype == torch.float32
    assert set(mixed.unique().tolist()) <= {50.0, 120.5, 200.0}
    bytes_, _ = MixUp()(images.to(torch.uint8), torch.arange(3), draws(1), digits.float())
    assert bytes_.dtype == torch.float32
