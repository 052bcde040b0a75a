"""Attention mass: worked by hand, even attention has the share of the image, and shares of patches against pixel counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.measure import attention_mass, patch_shares


def test_a_patch_gives_to_each_region_by_its_share_of_it() -> None:
    mask = np.zeros((1, 4, 4), bool)
    mask[0, :, 3] = True  # half of the two patches on the right
    mask[0, 0, 0] = True  # a quarter of the first
    shares = patch_shares(mask, (2, 2))
    assert shares.tolist() == [[[0.25, 0.5], [0, 0.5]]]
    assert attention_mass([[[2, 1], [1, 0]]], shares).tolist() == [(2 * 0.25 + 1 * 0.5) / 4]


def test_a_pixel_on_the_border_of_two_patches_counts_for_both() -> None:
    mask = np.array([[[False, True, False]]])  # three pixels, two patches: the middle one is cut in halves
    assert patch_shares(mask, (1, 2)).tolist() == [[[pytest.approx(1 / 3), pytest.approx(1 / 3)]]]
    assert patch_shares(mask, (1, 6)).round(12).tolist() == [[[0, 0, 1, 1, 0, 0]]]  # more patches than pixels


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_even_attention_has_the_share_of_the_image_and_regions_make_one(height, width, down, across, seed) -> None:
    draw = np.random.default_rng(seed)
    masks = draw.random((2, height, width)) < 0.4
    own, other = patch_shares(masks, (down, across)), patch_shares(~masks, (down, across))
    assert np.allclose(own + other, 1)
    assert np.allclose(attention_mass(np.ones_like(own), own), masks.mean((1, 2)))
    attention = draw.random(own.shape)
    assert np.allclose(attention_mass(attention, own) + attention_mass(attention, other), 1)


def test_whole_patches_are_counted_as_pixels_are() -> None:
    masks = np.random.default_rng(0).random((3, 12, 20)) < 0.5
    counted = masks.reshape(3, 3, 4, 4, 5).mean((2, 4))
    assert np.allclose(patch_shares(masks, (3, 4)), counted)


def test_no_attention_is_nan_and_what_does_not_fit_is_refused() -> None:
    assert np.isnan(attention_mass(np.zeros((1, 2, 2)), np.ones((1, 2, 2)))).all()
    assert attention_mass(np.zeros((0, 2, 2)), np.zeros((0, 2, 2))).shape == (0,)
    with pytest.raises(ValueError, match="expected attention and shares"):
        attention_mass(np.zeros((1, 2, 2)), np.zeros((1, 4, 4)))
    with pytest.raises(ValueError, match="not negative"):
        attention_mass(-np.ones((1, 2, 2)), np.ones((1, 2, 2)))
    with pytest.raises(ValueError, match="expected masks"):
        patch_shares(np.zeros((4, 4)), (2, 2))
