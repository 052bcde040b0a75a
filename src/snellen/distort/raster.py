"""Rasters: how fine a grid of tiles may be."""

from __future__ import annotations

from snellen.notation import expect_at_most

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
