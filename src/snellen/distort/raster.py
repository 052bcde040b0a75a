"""Rasters: how fine a grid of tiles may be, and what lies beyond the border of an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_torch import torch
from snellen.notation import expect_at_most

if TYPE_CHECKING:
    from torch import Tensor

FINEST = 10_000  # tiles along a side: no canvas has more pixels


def expect_grid(grid: int) -> None:
    """Raise unless so many tiles along a side make sense on some image."""
    if grid < 1:
        raise ValueError(f"expected grid of at least 1, got {grid}")
    expect_at_most(FINEST, grid=grid)


def expect_pixels(grid: int, height: int, width: int) -> None:
    """Raise unless every tile of an image has a pixel."""
    if grid > min(height, width):
        raise ValueError(f"expected a grid of at most {min(height, width)} for this image, got {grid}")


def mirrored(place: Tensor, side: int) -> Tensor:
    """Places outside 0 … side − 1 mirrored at the border, which lies between pixels: −1 is 0, −2 is 1, however far out."""
    inside = place.remainder(2 * side)
    return torch.minimum(inside, 2 * side - 1 - inside)
