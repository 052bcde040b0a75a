"""Lattices: the published tiles, exact shares, and how diffuse they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import View, parse
from snellen.errors import UserError

PUBLISHED = {0.25: [[1, 0], [0, 0]], 0.5: [[1, 0], [0, 1]], 0.75: [[1, 1], [0, 1]]}  # O_25,0, O_50,0, O_75,0


def cover(text: str, height: int = 224, width: int = 224) -> np.ndarray:
    images = torch.zeros(2, 3, height, width, dtype=torch.uint8)
    covers = parse(text).cover(images, View.of(["a", "b"])).numpy()
    np.testing.assert_array_equal(covers[0], covers[1])
    return covers[0]


@pytest.mark.parametrize("share", PUBLISHED)
@pytest.mark.parametrize("px", [1, 2, 4, 8, 16])
def test_a_lattice_is_the_published_tile_enlarged_and_its_share_is_exact(share: float, px: int) -> None:
    tile = np.kron(PUBLISHED[share], np.ones((px, px), int))
    pattern = cover(f"lattice({share}, {px})")
    np.testing.assert_array_equal(pattern, np.tile(tile, (112 // px, 112 // px)))
    assert pattern.sum() == share * 224 * 224


def test_two_pixels_at_half_are_the_matrix_of_the_appendix() -> None:
    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]  # O_50,1
    np.testing.assert_array_equal(cover("lattice(0.5, 2)", 4, 4), expected)
    np.testing.assert_array_equal(cover("lattice(0.5, 2)", 4, 6), [row + row[:2] for row in expected])


@pytest.mark.parametrize("px", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(("share", "expected"), [(0.25, 1), (0.5, 1), (0.75, 1 / 3)])
def test_finer_lattices_are_more_diffuse(share: float, expected: float, px: int) -> None:
    """Mean over covering pixels of the share of their 4 neighbours that do not cover, borders wrapped: 1/px or 1/(3 px)."""
    pattern = cover(f"lattice({share}, {px})")
    neighbours = np.mean([~np.roll(pattern, step, axis) for step in (-1, 1) for axis in (0, 1)], 0)
    assert neighbours[pattern].mean() == pytest.approx(expected / px)


def test_lattices_are_grey_unless_another_fill_is_named() -> None:
    images = torch.full((1, 3, 8, 8), 9, dtype=torch.uint8)
    known = View.of(["a"])
    assert parse("lattice()")(images, known).unique().tolist() == [9, 127]
    assert parse("lattice(0.75, 2, white)")(images, known).unique().tolist() == [9, 255]
    assert torch.equal(parse("lattice(0)")(images, known), images)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lattice(0.3)", "lattice: expected share of 0, 0.25, 0.5 or 0.75, got 0.3"),
        ("lattice(25)", "lattice: expected share of 0, 0.25, 0.5 or 0.75, got 25"),
        ("lattice(0.5, 0)", "lattice: expected px of at least 1, got 0"),
        ("lattice(0.5, 20000)", "lattice: expected px of at most 10,000, got 20000"),
    ],
)
def test_other_shares_and_sizes_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text)
    assert str(error.value) == message


def test_an_image_must_hold_a_whole_tile() -> None:
    parse("lattice(0.5, 16)").check_size(32, 40)
    with pytest.raises(ValueError, match="expected px of at most 15 for this image, got 16"):
        parse("lattice(0.5, 16)").check_size(31, 40)
