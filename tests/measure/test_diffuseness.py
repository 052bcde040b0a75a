"""Diffuseness: lattices with known values, by hand, and what must not change it."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import diffuseness

TILES = {25: [[1, 0], [0, 0]], 50: [[1, 0], [0, 1]], 75: [[1, 1], [0, 1]]}
MASKS = arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def lattice(cover: int, size: int, side: int = 64) -> np.ndarray:
    tile = np.kron(TILES[cover], np.ones((size, size)))
    return np.tile(tile, (side // (2 * size), side // (2 * size))).astype(bool)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("cover", TILES)
def test_lattices_have_1_over_s_and_1_over_3s(cover: int, size: int) -> None:
    expected = 1 / (3 * size) if cover == 75 else 1 / size
    assert diffuseness(lattice(cover, size), border="wrap") == pytest.approx(expected)


def test_with_8_neighbours_chessboards_of_1_and_2_pixels_are_alike() -> None:
    assert [diffuseness(lattice(50, size), 8, "wrap") for size in (1, 2)] == [0.5, 0.5]


def test_by_hand() -> None:
    mask = [[1, 1, 0], [0, 0, 0]]
    # Left pixel: right covered, below open: 1/2. Next: left covered, right and below open: 2/3.
    assert diffuseness(mask) == pytest.approx((1 / 2 + 2 / 3) / 2)
    # With corners: left has 1 of 3 covered; next 1 of 5.
    assert diffuseness(mask, 8) == pytest.approx((2 / 3 + 4 / 5) / 2)


@given(MASKS, st.sampled_from([4, 8]), st.sampled_from(["ignore", "wrap"]))
def test_a_turn_changes_nothing_and_the_value_is_a_share(mask: np.ndarray, connectivity: int, border: str) -> None:
    value = diffuseness(mask, connectivity, border)  # type: ignore[arg-type]
    assert diffuseness(np.rot90(mask), connectivity, border) == pytest.approx(value, nan_ok=True)  # type: ignore[arg-type]
    assert isnan(value) == (not mask.any() or (mask.size == 1 and border == "ignore"))
    assert isnan(value) or 0 <= value <= 1


@given(MASKS, st.integers(0, 6), st.integers(0, 6))
def test_a_wrapped_mask_may_begin_anywhere(mask: np.ndarray, down: int, right: int) -> None:
    moved = np.roll(mask, (down, right), (0, 1))
    assert diffuseness(moved, border="wrap") == pytest.approx(diffuseness(mask, border="wrap"), nan_ok=True)


def test_solid_is_0_nothing_is_nan_and_wrong_arguments_are_refused() -> None:
    assert diffuseness(np.ones((5, 4))) == 0
    assert isnan(diffuseness(np.zeros((5, 4))))
    assert isnan(diffuseness(np.zeros((0, 4))))
    with pytest.raises(ValueError, match=r"mask \[H, W\]"):
        diffuseness(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="connectivity 4 or 8 and border ignore or wrap, got 6"):
        diffuseness(np.ones((2, 2)), 6)
