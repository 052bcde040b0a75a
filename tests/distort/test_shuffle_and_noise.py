"""Shuffling against a loop over tiles; noise against its stated law."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import Uniform, View, moved, parse, show


def ids(count: int) -> list[str]:
    return [str(i) for i in range(count)]


@pytest.mark.parametrize(("grid", "height", "width"), [(4, 32, 32), (3, 32, 28), (2, 7, 9), (5, 5, 5)])
def test_shuffling_equals_a_loop_over_tiles(grid: int, height: int, width: int) -> None:
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.integers(0, 256, (6, 3, height, width), dtype=np.uint8))
    view = View.of(ids(6), seed=9)
    order = view.draw.permutation("tiles", grid * grid)
    tall, wide = height // grid, width // grid
    expected = images.clone()
    for b in range(6):
        for place in range(grid * grid):
            to, source = divmod(place, grid), divmod(int(order[b, place]), grid)
            expected[b, :, to[0] * tall : (to[0] + 1) * tall, to[1] * wide : (to[1] + 1) * wide] = images[
                b, :, source[0] * tall : (source[0] + 1) * tall, source[1] * wide : (source[1] + 1) * wide
            ]
    assert torch.equal(parse(f"shuffle({grid})")(images, view), expected)


def test_masks_move_with_the_tiles() -> None:
    images = torch.zeros(5, 3, 32, 32, dtype=torch.uint8)
    masks = torch.zeros(5, 32, 32, dtype=torch.bool)
    masks[:, 3:11, 5:20] = True
    images[:, 0] = masks.to(torch.uint8) * 200
    distortion, view = parse("shuffle(4)"), View.of(ids(5))
    assert torch.equal(distortion(images, view)[:, 0] == 200, moved(distortion, masks, view))


def test_a_cover_moves_with_later_tiles() -> None:
    images = torch.full((5, 3, 32, 32), 7, dtype=torch.uint8)
    out, cover = show(parse("occlude(0.2, white) | shuffle(4)"), images, View.of(ids(5)))
    assert cover is not None
    assert torch.equal(out[:, 0] == 255, cover)


def test_a_grid_finer_than_the_image_is_refused() -> None:
    with pytest.raises(ValueError, match="grid of at most 8"):
        parse("shuffle(9)")(torch.zeros(1, 3, 8, 8, dtype=torch.uint8), View.of(["a"]))


def test_noise_has_the_stated_deviation_and_no_bias() -> None:
    images = torch.full((32, 3, 64, 64), 128, dtype=torch.uint8)
    seen = parse("noise(0.1)")(images, View.of(ids(32))).float() - 128
    assert float(seen.mean()) == pytest.approx(0, abs=0.1)
    assert float(seen.std()) == pytest.approx(25.5, rel=0.005)


def test_noise_of_a_law_has_its_own_deviation_per_image() -> None:
    images = torch.full((64, 3, 32, 32), 128, dtype=torch.uint8)
    view = View.of(ids(64))
    seen = parse("noise(uniform(0, 0.1))")(images, view).float().flatten(1).std(1)
    drawn = torch.from_numpy(view.parameter("sigma", Uniform(0, 0.1))) * 255
    # Rounding to whole levels adds 1/12 of variance.
    np.testing.assert_allclose(seen.numpy(), np.sqrt(drawn.numpy() ** 2 + 1 / 12), rtol=0.06, atol=0.05)


def test_noise_is_clipped_not_wrapped() -> None:
    images = torch.zeros(4, 3, 32, 32, dtype=torch.uint8)
    assert float(parse("noise(0.02)")(images, View.of(ids(4))).max()) < 40
