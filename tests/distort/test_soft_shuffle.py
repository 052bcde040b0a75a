"""Soft shuffling: the hard shuffle at width 0, a float reference, no steps at seams, and enough pixels left as they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.distort import SoftShuffle, View, moved, parse
from snellen.distort.raster import mirrored
from snellen.distort.soft_shuffle import curve, smooth


def ids(count: int) -> list[str]:
    return [str(i) for i in range(count)]


def noisy(count: int, height: int, width: int) -> torch.Tensor:
    random = np.random.default_rng(0)
    return torch.from_numpy(random.integers(0, 256, (count, 3, height, width), dtype=np.uint8))


def sloped(count: int = 32, side: int = 64) -> torch.Tensor:
    """A ramp from corner to corner, 3 levels a pixel in red and green: smooth, but unlike wherever tiles change places."""
    ramp = torch.arange(side) * 3
    red, green = torch.broadcast_tensors(ramp[:, None], ramp)
    return torch.stack((red, green, (red + green) // 2)).to(torch.uint8).expand(count, 3, side, side).contiguous()


def steps_at(images: torch.Tensor, tile: int) -> tuple[float, float]:
    """The mean absolute difference of neighbouring columns at the seams of the tiles, and elsewhere."""
    step = images.to(torch.int16).diff(dim=3).abs().float().mean((0, 1, 2))
    seam = (torch.arange(len(step)) + 1) % tile == 0
    return float(step[seam].mean()), float(step[~seam].mean())


@given(st.integers(1, 6), st.integers(6, 21), st.integers(6, 21), st.integers(0, 99))
@settings(max_examples=40)
def test_at_width_nothing_it_is_the_hard_shuffle(grid: int, height: int, width: int, seed: int) -> None:
    images, view = noisy(3, height, width), View.of(ids(3), seed)
    assert torch.equal(SoftShuffle(grid, 0)(images, view), parse(f"shuffle({grid})")(images, view))


@given(st.integers(1, 6), st.floats(0, 1), st.integers(6, 21), st.integers(6, 21))
@settings(max_examples=40)
def test_what_is_even_stays_even_and_blends_invent_no_level(grid: int, width: float, height: int, across: int) -> None:
    view = View.of(ids(2))
    even = torch.full((2, 3, height, across), 201, dtype=torch.uint8)
    assert torch.equal(SoftShuffle(grid, width)(even, view), even)
    out = SoftShuffle(grid, width)(noisy(2, height, across).clamp(40, 90), view)
    assert (int(out.min()) >= 40, int(out.max()) <= 90) == (True, True)


@pytest.mark.parametrize(("grid", "height", "width"), [(4, 32, 32), (3, 32, 28), (2, 9, 13), (4, 7, 11)])
def test_each_pixel_is_the_weighted_mean_of_the_four_tiles_about_it(grid: int, height: int, width: int) -> None:
    """A loop over pixels in floating point: each place asks the tile of every neighbouring place what it shows there."""
    images, view, distortion = noisy(2, height, width), View.of(ids(2), seed=9), SoftShuffle(grid, 1)
    order = view.draw.permutation("tiles", grid * grid)
    down, across = (weight.numpy() / 256 for weight in distortion.weights(height, width, view))
    tall, wide = height // grid, width // grid
    padded = np.pad(images.numpy().astype(float), ((0, 0), (0, 0), (height, height), (width, width)), mode="symmetric")

    def seam(place: int, tile: int, side: int) -> int:
        seams = [s for s in range(1, grid + 1) if s * tile < side]
        return min(seams, key=lambda s: (abs(place + 0.5 - s * tile), -s))

    def shown(b: int, row: int, column: int, y: int, x: int) -> np.ndarray:
        if row < grid and column < grid:
            source = divmod(int(order[b, row * grid + column]), grid)
            y, x = y + (source[0] - row) * tall, x + (source[1] - column) * wide
        return padded[b, :, y + height, x + width]

    out = distortion(images, view).numpy()
    for b, y, x in np.ndindex(2, height, width):
        row, column = seam(y, tall, height), seam(x, wide, width)
        v, u = down[b, y, x], across[b, y, x]
        above = (1 - u) * shown(b, row - 1, column - 1, y, x) + u * shown(b, row - 1, column, y, x)
        below = (1 - u) * shown(b, row, column - 1, y, x) + u * shown(b, row, column, y, x)
        assert np.abs(out[b, :, y, x] - ((1 - v) * above + v * below)).max() <= 0.5001


def test_seams_are_no_steps_on_a_smooth_image() -> None:
    """Ramps of 3 levels a pixel, tiles of 16: a hard seam steps 42 times as far as other places, a soft one 2.9 times."""
    hard = steps_at(parse("shuffle(4)")(sloped(), View.of(ids(32))), 16)
    soft = steps_at(parse("soft_shuffle(4)")(sloped(), View.of(ids(32))), 16)
    clean = steps_at(sloped(), 16)
    assert clean[0] == pytest.approx(clean[1])
    assert hard[0] > 30 * hard[1]
    assert soft[0] < 3.5 * soft[1]
    assert soft[0] < hard[0] / 5


def test_borders_are_not_straight_and_differ_by_image_and_seam() -> None:
    _, across = SoftShuffle(4, 0.5).weights(64, 64, View.of(ids(3)))
    border = (across[:, :, 8:24] < 128).sum(2)  # how many pixels of each row are left of the first border, [B, H]
    assert (border.float().std(1) > 0.5).all()
    assert not torch.equal(border[0], border[1])
    assert int((border - 8).abs().max()) <= 2 + 1  # a quarter of a zone of 8 pixels
    assert not torch.equal(border[0], (across[0, :, 24:40] < 128).sum(1))


@pytest.mark.parametrize(("width", "least"), [(0.25, 0.8), (0.5, 0.65), (0.75, 0.5), (1.0, 0.38)])
def test_the_middles_of_the_tiles_are_copied(width: float, least: float) -> None:
    """Where both weights are 0 or 1 a pixel is that of the moved map; of a zone only half is ever faded."""
    images, view = noisy(8, 32, 32), View.of(ids(8))
    distortion = SoftShuffle(4, width)
    down, across = distortion.weights(32, 32, view)
    whole = (down % 256 == 0) & (across % 256 == 0)
    assert float(whole.float().mean()) > least
    out, hard = distortion(images, view), distortion.move(images, view)
    kept = whole[:, None].expand_as(out)
    assert torch.equal(out[kept], hard[kept])
    assert not torch.equal(out, hard)


def test_masks_move_with_the_heavier_tile() -> None:
    masks = torch.zeros(5, 32, 32, dtype=torch.bool)
    masks[:, 3:11, 5:20] = True
    images = masks[:, None].expand(5, 3, 32, 32).to(torch.uint8) * 200
    view = View.of(ids(5))
    assert torch.equal(SoftShuffle(4, 0).move(masks, view), parse("shuffle(4)").move(masks, view))
    distortion = SoftShuffle(4)
    mean = distortion(images, view)[:, 0]
    here = moved(distortion, masks, view)
    assert here.dtype == torch.bool
    assert here[mean > 150].all()  # over three quarters: the heaviest of four tiles cannot be another
    assert not here[mean < 50].any()


def test_curves_pass_through_their_knots_and_places_mirror() -> None:
    knots = torch.tensor([[[0, 100, -50, 7]]], dtype=torch.int32)
    assert curve(knots, 9, 4)[0, 0, ::4].tolist() == [0, 100 * 256, -50 * 256]
    assert curve(knots, 9, 4)[0, 0, 2].item() == 50 * 256
    assert mirrored(torch.tensor([-7, -2, -1, 0, 4, 5, 6, 11]), 5).tolist() == [3, 1, 0, 0, 4, 4, 3, 1]
    assert smooth(torch.tensor([0, 64, 128, 256])).tolist() == [0, 40, 128, 256]


@pytest.mark.parametrize(
    ("text", "said"),
    [("soft_shuffle(0)", "grid of at least 1, got 0"), ("soft_shuffle(4, 1.5)", r"width in \[0, 1\], got 1.5")],
)
def test_a_wrong_parameter_is_refused(text: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        parse(text)


def test_a_grid_finer_than_the_image_is_refused() -> None:
    with pytest.raises(ValueError, match="grid of at most 8"):
        parse("soft_shuffle(9)")(torch.zeros(1, 3, 8, 8, dtype=torch.uint8), View.of(["a"]))
