"""Tiles: an image divided into squares that are hidden or shown one after the other, and orders to do so in."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.draws import Draws, on_device
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class TileGrid:
    """A raster of tiles over images of `height` × `width` pixels, numbered row by row.

    `tall` × `wide` pixels each; the last row and the last column also have the pixels that are left over.
    """

    height: int
    width: int
    tall: int
    wide: int

    @classmethod
    def of(cls, height: int, width: int, tile: int, grid: int) -> TileGrid:
        """Tiles of `tile` pixels a side, or `grid` × `grid` of them where that is not 0; at least one pixel, at most all."""
        tall, wide = (side // grid if grid else tile for side in (height, width))
        return cls(height, width, min(max(tall, 1), height), min(max(wide, 1), width))

    @property
    def rows(self) -> int:
        return self.height // self.tall

    @property
    def columns(self) -> int:
        return self.width // self.wide

    def __len__(self) -> int:
        return self.rows * self.columns

    @functools.cached_property
    def numbers(self) -> np.ndarray:
        """int64 [H, W]: the tile of each pixel."""
        down = np.minimum(np.arange(self.height) // self.tall, self.rows - 1)
        across = np.minimum(np.arange(self.width) // self.wide, self.columns - 1)
        return down[:, None] * self.columns + across

    def means(self, maps: Tensor) -> Tensor:
        """float64 [B, tiles]: the mean of stored maps in each tile; sums of whole numbers, so the same on every device."""
        numbers = on_device(self.numbers.ravel(), maps.device)
        sums = torch.zeros((len(maps), len(self)), dtype=torch.int64, device=maps.device)
        sums.index_add_(1, numbers, maps.flatten(1).to(torch.int64))
        sizes = on_device(np.bincount(self.numbers.ravel()), maps.device)
        return sums.to(torch.float64) / sizes

    def spread(self, values: Tensor) -> Tensor:
        """[B, H, W]: a value per tile, [B, tiles], given to all of its pixels."""
        raster = values.view(-1, self.rows, self.columns)
        for side, size, count, axis in (
            (self.tall, self.height, self.rows, 1),
            (self.wide, self.width, self.columns, 2),
        ):
            raster = raster.repeat_interleave(side, axis)
            if left := size - side * count:
                last = raster.narrow(axis, raster.shape[axis] - 1, 1)
                raster = torch.cat([raster, *[last] * left], axis)
        return raster


def ranks_by_relevance(means: Tensor, draw: Draws) -> Tensor:
    """int32 [B, tiles]: the place of each tile when the least relevant comes first.

    Tiles of equal relevance come in a random order of the image's own, so that a map which says nothing gives a random order.
    """
    shuffle = on_device(draw.permutation("ties", means.shape[1]), means.device)
    order = shuffle.gather(1, means.gather(1, shuffle).sort(dim=1, stable=True).indices)
    return _places(order)


def random_ranks(tiles: int, repeats: int, draw: Draws) -> Tensor:
    """int32 [B, repeats, tiles]: the place of each tile in random orders; those of an image are the same for every model."""
    orders = [on_device(draw.permutation(f"order {number}", tiles), draw.device) for number in range(repeats)]
    return torch.stack([_places(order) for order in orders], 1)


def _places(order: Tensor) -> Tensor:
    """The inverse of permutations [B, tiles], int32."""
    places = torch.arange(order.shape[1], dtype=torch.int32, device=order.device).expand(order.shape)
    return torch.empty_like(places).scatter_(1, order, places)
