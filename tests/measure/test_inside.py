"""The share of a map inside a mask, by hand and by its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import inside_mask


def test_by_hand():
    heat = np.array([[[1.0, 2, 0], [3, 4, 0]], [[0, 0, 0], [0, 0, 0]], [[5, 0, 0], [0, 0, 0]]])
    mask = np.array([[[1, 0, 1], [0, 1, 1]], [[1, 1, 1], [1, 1, 1]], [[0, 1, 1], [1, 1, 1]]])
    found = inside_mask(heat, mask)
    assert found[0] == (1 + 4) / 10
    assert np.isnan(found[1])  # nothing was looked at: neither inside nor outside
    assert found[2] == 0


def test_an_even_map_has_the_masks_share_of_the_image():
    mask = np.zeros((1, 4, 5), bool)
    mask[0, 1:3, 2:4] = True
    assert inside_mask(np.full((1, 4, 5), 0.3), mask)[0] == pytest.approx(4 / 20)


VALUES = arrays(np.float64, (3, 4, 4), elements=st.floats(0, 100).map(lambda value: round(value, 3)))


@given(heat=VALUES, mask=arrays(bool, (3, 4, 4)), scale=st.floats(0.1, 10))
def test_inside_and_outside_are_the_whole_whatever_the_scale(heat, mask, scale):
    inside, outside = inside_mask(heat, mask), inside_mask(heat, ~mask)
    empty = heat.sum((1, 2)) == 0
    assert (np.isnan(inside) == empty).all()
    assert inside[~empty] + outside[~empty] == pytest.approx(np.ones((~empty).sum()))
    assert inside_mask(heat * scale, mask)[~empty] == pytest.approx(inside[~empty])


def test_wrong_calls_are_named():
    with pytest.raises(ValueError, match=r"got \[2, 3\] and \[2, 3\]"):
        inside_mask(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not negative, got -1"):
        inside_mask(-np.ones((1, 2, 2)), np.ones((1, 2, 2)))
