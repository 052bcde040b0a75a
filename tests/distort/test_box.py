"""Boxes: the laws of their sizes and places, and the share of the object that they may hide."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm, truncnorm

from snellen.distort import Box, View, parse
from snellen.errors import UserError

LONG = 1_000_000  # pixels: so many that rounding to whole ones does not show


def view(count: int, seed: int = 0, **known: object) -> View:
    return View.of([f"image {i}" for i in range(count)], seed, **known)


def axes(law: str, height: int = LONG, width: int = LONG, count: int = 4000) -> list[tuple[np.ndarray, np.ndarray]]:
    """Centre and side of either axis."""
    ends = Box(law).place(view(count), height, width, 0)  # type: ignore[arg-type]
    return [((ends[:, k] + ends[:, k + 1]) / 2, ends[:, k + 1] - ends[:, k]) for k in (0, 2)]


@pytest.mark.parametrize(("law", "deviation"), [("synthetic", 0.3), ("diffuse", 0.4)])
def test_sides_are_gaussian_and_centres_uniform(law: str, deviation: float) -> None:
    for length, (centre, side) in zip((LONG, LONG // 2), axes(law, LONG, LONG // 2)):
        assert kstest(centre / length, "uniform").pvalue > 0.01
        some = side[side > 1] / length
        assert kstest(some, truncnorm(-0.5 / deviation, np.inf, 0.5, deviation).cdf).pvalue > 0.01
        assert np.mean(side <= 1) == pytest.approx(norm.cdf(-0.5 / deviation), abs=0.015)


def test_the_diffuse_code_draws_gaussian_centres_and_roots_of_clipped_gaussians() -> None:
    for centre, side in axes("diffuse_code"):
        assert kstest(centre / LONG, norm(0.5, 0.25).cdf).pvalue > 0.01
        share = (side / LONG) ** 2
        inner = share[(share > 1e-9) & (share < 1 - 1e-4)]
        assert kstest(inner, truncnorm(-1.25, 1.25, 0.5, 0.4).cdf).pvalue > 0.01
        assert np.mean(share <= 1e-9) == pytest.approx(norm.cdf(-1.25), abs=0.02)
        assert np.mean(share >= 1 - 1e-4) == pytest.approx(norm.cdf(-1.25), abs=0.02)


def test_the_synthetic_code_draws_corners_and_sides_from_whole_pixels_of_the_longer_side() -> None:
    ends = Box("synthetic_code").place(view(20_000), 100, 64, 0)
    for first, end in ((ends[:, 0], ends[:, 1]), (ends[:, 2], ends[:, 3])):
        corners, counts = np.unique(first, return_counts=True)
        np.testing.assert_array_equal(corners, np.arange(30, 70))  # numpy's randint(30, 100 - 30)
        assert counts.min() > 400
        sides, counts = np.unique(end - first, return_counts=True)
        np.testing.assert_array_equal(sides, np.arange(50, 100))  # randint(50, 100)
        assert counts.min() > 310


def test_either_axis_has_draws_of_its_own() -> None:
    (rows, heights), (columns, widths) = axes("synthetic")
    for first, second in ((rows, columns), (heights, widths), (rows, heights)):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


@pytest.mark.parametrize("law", ["synthetic", "synthetic_code", "diffuse", "diffuse_code"])
def test_what_is_covered_is_the_box_cut_at_the_border_and_nothing_else(law: str) -> None:
    images = torch.full((50, 3, 90, 70), 9, dtype=torch.uint8)
    distortion = parse(f"box({law}, white)")
    assert isinstance(distortion, Box)
    white = (distortion(images, view(50)) == 255).numpy()
    for image, (top, bottom, left, right) in zip(white, distortion.place(view(50), 90, 70, 0)):
        expected = np.zeros((90, 70), bool)
        expected[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
        np.testing.assert_array_equal(image, np.broadcast_to(expected, (3, 90, 70)))


@settings(max_examples=30)
@given(st.floats(0, 0.9), st.floats(0.02, 1), st.integers(0, 50))
def test_the_hidden_share_of_the_object_is_within_its_bounds_or_the_image_counts_nowhere(
    least: float, span: float, seed: int
) -> None:
    most = min(least + span, 1.0)
    masks = torch.zeros(12, 30, 40, dtype=torch.bool)
    masks[:, 8:20, 10:30] = True
    masks[3:5] = False
    known = view(12, seed, masks=masks)
    images = torch.full((12, 3, 30, 40), 9, dtype=torch.uint8)
    black = (Box("diffuse", "black", least, most)(images, known) == 0).any(1).numpy()
    excluded = known.notes.get("excluded", np.zeros(12, bool))
    hidden = np.array([(one & mask).sum() / 240 for one, mask in zip(black, masks.numpy())])
    if least > 0 or most < 1:
        assert excluded[3:5].all()  # no object, so no share of it
        assert ((hidden >= least - 1e-9) & (hidden <= most + 1e-9))[~excluded].all()
        assert not black[excluded].any()
    else:
        assert not excluded.any()


def test_a_box_that_is_allowed_at_once_stays_and_others_are_drawn_again() -> None:
    masks = torch.zeros(200, 30, 40, dtype=torch.bool)
    masks[:, 8:20, 10:30] = True
    images = torch.full((200, 3, 30, 40), 9, dtype=torch.uint8)
    plain = parse("box(synthetic)").cover(images, view(200))
    bounded = parse("box(synthetic, least=0.05, most=0.95)").cover(images, view(200, masks=masks))
    share = (plain & masks).flatten(1).sum(1) / 240
    inside = (share >= 0.05) & (share <= 0.95)
    assert 0.3 < inside.float().mean() < 0.9
    assert torch.equal(plain[inside], bounded[inside])
    assert (plain[~inside] != bounded[~inside]).flatten(1).any(1).all()


def test_an_object_of_one_pixel_is_hidden_or_not_so_the_filter_leaves_its_image_out() -> None:
    masks = torch.zeros(2, 20, 20, dtype=torch.bool)
    masks[0, 5, 5] = True
    masks[1, 5:15, 5:15] = True
    images = torch.full((2, 3, 20, 20), 9, dtype=torch.uint8)
    known = view(2, masks=masks)
    out = parse("box(least=0.05, most=0.95)")(images, known)
    assert known.notes["excluded"].tolist() == [True, False]
    assert torch.equal(out[0], images[0])
    assert not torch.equal(out[1], images[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("box(least=0.9, most=0.5)", "box: expected 0 ≤ least ≤ most ≤ 1, got least=0.9 and most=0.5"),
        ("box(least=-0.1)", "box: expected 0 ≤ least ≤ most ≤ 1, got least=-0.1 and most=1"),
        ("box(most=95)", "box: expected 0 ≤ least ≤ most ≤ 1, got least=0 and most=95"),
        ("box(published)", "unknown law of box 'published'"),
    ],
)
def test_bounds_and_laws_are_checked(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text)
    assert str(error.value).startswith(message)


def test_the_synthetic_code_refuses_images_that_its_own_loop_would_skip() -> None:
    parse("box(synthetic_code)").check_size(61, 10)
    with pytest.raises(
        ValueError, match="expected more than 60 pixels along the longer side for law=synthetic_code, got 60"
    ):
        parse("box(synthetic_code)").check_size(60, 60)
    parse("box(synthetic)").check_size(8, 8)


def test_masks_are_needed_only_where_the_hidden_share_is_bounded() -> None:
    assert parse("box()").needs == frozenset()
    assert parse("box(least=0.05)").needs == {"masks"}
    assert parse("box(fill=donor, most=0.95)").needs == {"masks", "donors"}


def test_the_pixels_of_the_synthetic_code_are_those_of_this_version() -> None:
    """The golden pixels of every distortion are 32 pixels wide, too few for this law."""
    images = (torch.arange(4 * 3 * 64 * 80).reshape(4, 3, 64, 80) * 2654435761 % 251).to(torch.uint8)
    out = parse("box(synthetic_code, noise)")(images, view(4, seed=3))
    assert (hashlib.sha256(out.numpy().tobytes()).hexdigest()[:16], Box.version) == ("5caf762ec56c9cdb", 1)
