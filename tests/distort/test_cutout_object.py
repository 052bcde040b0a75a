"""Cut-out objects: their size, place and pixels, and the share of the object that they hide."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from snellen.data.occluders import Occluders, from_images
from snellen.distort import View, parse, show
from snellen.errors import UserError

from .test_cutouts import blank, cutout, view


def rectangles(cover: torch.Tensor) -> np.ndarray:
    """[B, 4]: top, rows, left, columns of what is covered."""
    corners = []
    for one in cover.numpy():
        rows, columns = np.flatnonzero(one.any(1)), np.flatnonzero(one.any(0))
        corners.append((rows[0], rows[-1] + 1 - rows[0], columns[0], columns[-1] + 1 - columns[0]))
    return np.array(corners)


def pool() -> Occluders:
    return from_images([cutout("rectangle", 40, 60), cutout("ellipse", 50, 20)])


def test_at_224_pixels_a_quarter_is_112_by_112_within_55_pixels_of_the_middle() -> None:
    known = view(from_images([cutout("rectangle", 40, 60)]), 2000)
    places = parse("cutout_object()").place(known, 224, 224, 0)  # type: ignore[attr-defined]
    assert (places[:, [2, 4]] == 112).all()
    for starts in (places[:, 1], places[:, 3]):
        offsets = starts - 56
        assert (offsets.min(), offsets.max()) == (-55, 55)
        assert kstest((offsets + 55.5) / 111, "uniform").pvalue > 0.01
    cover = parse("cutout_object()").cover(blank(20, 224, 224), known.rows(0, 20))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(rectangles(cover), places[:20, 1:])
    assert cover.flatten(1).sum(1).tolist() == [112 * 112] * 20


def test_a_stretched_cutout_shows_its_nearest_pixels_and_is_not_mirrored() -> None:
    """A rectangle of 4 × 9 as 10 × 10: row r shows row (2r + 1) · 4 // 20 of it."""
    known = view(from_images([cutout("rectangle", 4, 9)]), 30)
    out, cover = show(parse("cutout_object(0.25)"), blank(30, 20, 20), known)
    assert cover is not None
    at = np.arange(10)
    for image, (top, rows, left, columns) in zip(out.numpy(), rectangles(cover)):
        assert (rows, columns) == (10, 10)
        patch = image[:, top : top + 10, left : left + 10]
        np.testing.assert_array_equal(patch[0], np.tile(1 + (2 * at + 1) * 9 // 20, (10, 1)))
        np.testing.assert_array_equal(patch[1], np.tile(1 + (2 * at + 1) * 4 // 20, (10, 1)).T)
        assert (patch[2] == 77).all()
        assert (image == 250).all(0).sum() == 300


@pytest.mark.parametrize(
    ("shape", "text", "sides"),
    [
        ((20, 80), "cutout_object(0.16, stretch=false)", (20, 80)),
        ((20, 80), "cutout_object(0.16)", (40, 40)),
        ((60, 30), "cutout_object(0.08, stretch=false)", (40, 20)),
        ((2, 80), "cutout_object(0.36, stretch=false)", (9, 100)),  # 60 · √(1/40) rows; no longer than the image
    ],
)
def test_in_its_own_aspect_it_has_the_same_area(shape: tuple[int, int], text: str, sides: tuple[int, int]) -> None:
    known = view(from_images([cutout("rectangle", *shape)]), 5)
    places = parse(text).place(known, 100, 100, 0)  # type: ignore[attr-defined]
    assert places[:, [2, 4]].tolist() == [[*sides]] * 5


def test_the_whole_pool_is_used_alike_and_named() -> None:
    known = view(pool(), 600)
    parse("cutout_object()")(blank(600, 32, 32), known)
    names, counts = np.unique(known.notes["donor"].astype(str), return_counts=True)
    assert names.tolist() == ["0", "1"]
    assert counts.min() > 250


def test_the_hidden_share_of_the_object_is_kept_within_bounds() -> None:
    masks = torch.zeros(80, 40, 40, dtype=torch.bool)
    masks[:, 2:14, 2:14] = True
    masks[7] = False
    known = View.of([f"image {i}" for i in range(80)], masks=masks, occluders=pool())
    out, cover = show(parse("cutout_object(least=0.05, most=0.95)"), blank(80, 40, 40), known)
    assert cover is not None
    excluded = known.notes["excluded"]
    hidden = np.array([one[mask].mean() if mask.any() else 0 for one, mask in zip(cover.numpy(), masks.numpy())])
    assert excluded[7]
    assert excluded.sum() == 1
    assert ((hidden >= 0.05) & (hidden <= 0.95))[~excluded].all()
    assert torch.equal(out[7], blank(1, 40, 40)[0])
    assert known.notes["donor"][7] == ""
    assert set(known.notes["donor"][~excluded]) == {"0", "1"}
    free = parse("cutout_object()").cover(blank(80, 40, 40), known)  # type: ignore[attr-defined]
    assert (free & masks).flatten(1).any(1).float().mean() < 0.95  # without bounds some miss it


def test_sizes_outside_the_image_are_refused() -> None:
    with pytest.raises(UserError, match=r"cutout_object: expected size in \[0, 1\], got 1.5"):
        parse("cutout_object(1.5)")
    assert parse("cutout_object(least=0.05)").needs == {"masks", "occluders"}
    assert parse("cutout_object()").needs == {"occluders"}
