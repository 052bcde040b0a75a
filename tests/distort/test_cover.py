"""Squares and tiles: the published side lengths, exact shares, uniform places."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import Occlude, View, parse


def cover(text: str, count: int, height: int, width: int | None = None) -> torch.Tensor:
    images = torch.zeros(count, 3, height, width or height, dtype=torch.uint8)
    return parse(text).cover(images, View.of([str(i) for i in range(count)]))


# FACTS 1.2: effective side of the published rule by image side and nominal area.
PUBLISHED = {
    32: {0.1: 10, 0.3: 18, 0.5: 22, 0.7: 26, 0.9: 30},
    28: {0.1: 8, 0.3: 14, 0.5: 20, 0.7: 22, 0.9: 26},
    64: {0.1: 20, 0.3: 34, 0.5: 44, 0.7: 54, 0.9: 60},
    224: {0.1: 70, 0.3: 122, 0.5: 158, 0.7: 186, 0.9: 212},
}


@pytest.mark.parametrize("side", PUBLISHED)
def test_the_published_law_gives_the_published_sides(side: int) -> None:
    for area, expected in PUBLISHED[side].items():
        rows = cover(f"occlude({area}, law=published)", 3, side).any(2).sum(1)
        assert rows.tolist() == [expected] * 3


def published_start(side: int, length: int, draw: int) -> int:
    """Where the box begins by the published code, written out: `draw` counts the centres that it may have."""
    half = round(side / 2)
    centre = int(side / 2) if half == round(length / 2) else range(half, length - half)[draw]
    return centre - side // 2


@pytest.mark.parametrize(("area", "side"), [(0.1, 10), (0.35, 19), (0.28, 17), (0.9, 30), (1.0, 32)])
def test_the_published_law_draws_its_centre_as_published(area: float, side: int) -> None:
    """Of 32 pixels a side of 10 may begin at 0 to 21, not at 22; one of 19 (half rounds to 10) at 1 to 12; 30 at 0 or 1."""
    seen = cover(f"occlude({area}, law=published)", 3000, 32)
    for axis in (1, 2):
        starts = seen.any(3 - axis).float().argmax(1).tolist()
        half = round(side / 2)
        many = 1 if half == 16 else 32 - 2 * half
        allowed = [published_start(side, 32, draw) for draw in range(many)]
        assert sorted(set(starts)) == allowed
        assert np.mean(starts) == pytest.approx(np.mean(allowed), abs=4 * (np.std(allowed) + 1e-9) / np.sqrt(3000))
    assert (seen.flatten(1).sum(1) == (side // 2 * 2) ** 2).all()


def test_only_the_published_law_inside_has_new_pixels() -> None:
    assert Occlude(law="published").version == 2
    assert Occlude(law="published", inside=False).version == Occlude().version == Occlude(inside=False).version == 1


def test_the_exact_law_takes_the_nearest_side() -> None:
    """0.3 of 32 × 32 is 307.2 pixels: 18 × 18 = 324 is nearer than 17 × 17 = 289."""
    assert cover("occlude(0.3)", 4, 32).flatten(1).sum(1).tolist() == [324] * 4


def test_a_square_inside_is_one_whole_square_anywhere() -> None:
    seen = cover("occlude(0.1)", 2000, 16)
    assert (seen.flatten(1).sum(1) == 25).all()
    tops = seen.any(2).float().argmax(1).numpy()
    assert set(tops) == set(range(12))
    assert abs(tops.mean() - 5.5) < 4 * np.sqrt(143 / 12 / 2000)  # uniform over 0 … 11


def test_a_square_that_may_leave_the_image_is_centred_on_any_pixel() -> None:
    seen = cover("occlude(0.25, inside=false)", 4000, 16)
    sizes = seen.flatten(1).sum(1)
    assert sizes.max() == 64
    assert sizes.min() == 4 * 4  # centre in the corner (0, 0): rows 0 … 3 of −4 … 3
    # An axis shows 4, 5, 6, 7, nine times 8, then 7, 6, 5 pixels for the centres 0 … 15: 7 on average.
    assert float(sizes.float().mean()) == pytest.approx(7**2, rel=0.03)


def test_the_share_of_a_law_follows_the_law() -> None:
    seen = cover("occlude(beta(2, 1))", 4000, 64).flatten(1).float().mean(1)
    assert float(seen.mean()) == pytest.approx(2 / 3, abs=0.02)


def test_a_rectangle_keeps_the_aspect_of_the_image() -> None:
    seen = cover("occlude(0.25)", 3, 20, 40)
    assert seen.any(2).sum(1).tolist() == [10] * 3
    assert seen.any(1).sum(1).tolist() == [20] * 3


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 1])
def test_tiles_cover_whole_tiles_and_the_right_number(share: float) -> None:
    seen = cover(f"tiles(4, {share})", 50, 32)
    tiles = seen.unflatten(1, (4, 8)).unflatten(3, (4, 8)).float().mean((2, 4))
    assert set(tiles.unique().tolist()) <= {0.0, 1.0}
    assert (tiles.sum((1, 2)) == 16 * share).all()


def test_every_tile_is_covered_equally_often() -> None:
    seen = cover("tiles(2, 0.25)", 4000, 8).unflatten(1, (2, 4)).unflatten(3, (2, 4)).float().mean((0, 2, 4))
    assert seen.flatten().tolist() == pytest.approx([0.25] * 4, abs=0.03)


def test_covers_of_one_sample_grow_with_the_area_by_common_draws() -> None:
    """The same draw at every strength: squares of one sample shrink towards the same relative place."""
    small, large = cover("occlude(0.2)", 200, 32), cover("occlude(0.6)", 200, 32)
    assert (small & ~large).flatten(1).float().mean() < 0.08


def test_a_law_in_the_wrong_place_is_pointed_to_the_right_one() -> None:
    with pytest.raises(ValueError, match=r"occlude\(area=uniform"):
        Occlude(law=parse("occlude(uniform(0.7, 1))").area)  # type: ignore[arg-type]
