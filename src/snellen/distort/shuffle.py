"""Patch shuffling: the parts stay, their places change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.distortion import Moving
from snellen.distort.raster import expect_grid, expect_pixels
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Shuffle(Moving):
    """Cut the image into `grid` × `grid` tiles and permute them uniformly (the identity is possible).

    Tiles are H // grid by W // grid pixels; a remainder strip at the bottom and right stays in place.
    """

    grid: int = 4
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"grid": 1}

    def __post_init__(self) -> None:
        expect_grid(self.grid)

    def check_size(self, height: int, width: int) -> None:
        expect_pixels(self.grid, height, width)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return self.move(images, view)

    def move(self, maps: Tensor, view: View) -> Tensor:
        """The same permutation of images [B, C, H, W] or maps [B, H, W] of any type."""
        self.check_size(maps.shape[-2], maps.shape[-1])
        height, width = maps.shape[-2] // self.grid, maps.shape[-1] // self.grid
        g = self.grid
        source = view.draw.permutation("tiles", g * g)
        inner = maps[..., : g * height, : g * width].unflatten(-1, (g, width)).unflatten(-3, (g, height))
        # [B, …, row, h, column, w] → one gather over (row, column), then whole rows again.
        rows, columns = view.tensor(source // g), view.tensor(source % g)
        batch = torch.arange(len(maps), device=maps.device)[:, None]
        lead = maps.ndim - 3
        picked = inner.movedim((-4, -2), (1, 2))[batch, rows, columns]  # [B, g·g, …, h, w]
        shuffled = picked.unflatten(1, (g, g)).movedim((1, 2), (1 + lead, 3 + lead))
        shuffled = shuffled.reshape(*maps.shape[:-2], g * height, g * width)
        if shuffled.shape == maps.shape:
            return shuffled
        out = maps.clone()
        out[..., : g * height, : g * width] = shuffled
        return out

    def words(self) -> str:
        return f"{self.grid}×{self.grid} patches shuffled"
