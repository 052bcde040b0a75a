"""Patch shuffling without straight seams: tiles overlap and fade into each other along borders that wander.

A candidate for the fairer test that paper 000, appendix B.5, asks for: the seams of a hard shuffle are long level and
upright edges, and a network may take those for a class. Whole numbers throughout, so every device gives the same pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.chain import chained
from snellen.distort.view import View
from snellen.lazy import torch
from snellen.text import text_form

if TYPE_CHECKING:
    from torch import Tensor

ONE = 256  # a pixel's side, and a whole weight


@dataclass(frozen=True)
class SoftShuffle:
    """The permutation of `shuffle(grid)`, with tiles that fade into each other instead of ending.

    `width`, 0 to 1, is the share of a tile's side that the zone about a seam takes up. In it the border between two tiles
    wanders, by a quarter of the zone to either side, and over half the zone one tile fades into the other; each shows
    there what lies beyond it in the image, mirrored at the image's own border. At width 0 it is the hard shuffle; at 1
    only the middle of a tile is sure to be copied as it is. A remainder strip stays in place, and is faded into too.
    """

    grid: int = 4
    width: float = 0.75
    version: ClassVar[int] = 1
    still: ClassVar[str] = "soft_shuffle(1)"
    needs: ClassVar[frozenset[str]] = frozenset()

    __str__ = text_form
    __or__ = chained

    def __post_init__(self) -> None:
        if self.grid < 1:
            raise ValueError(f"expected grid of at least 1, got {self.grid}")
        if not 0 <= self.width <= 1:
            raise ValueError(f"expected width in [0, 1], got {self.width:g}")

    def __call__(self, images: Tensor, view: View) -> Tensor:
        if self.grid == 1:
            return images
        height, width = images.shape[-2:]
        down, across = self.weights(height, width, view)
        flat = images.flatten(2)
        total = torch.zeros_like(flat, dtype=torch.int32)
        for below in (0, 1):
            for right in (0, 1):
                weight = (down if below else ONE - down) * (across if right else ONE - across)
                source = self._sources(height, width, below, right, view).flatten(1)
                picked = flat.gather(2, source[:, None].expand_as(flat))
                total += weight.flatten(1)[:, None] * picked
        return ((total + ONE * ONE // 2) // (ONE * ONE)).to(torch.uint8).view_as(images)

    def move(self, maps: Tensor, view: View) -> Tensor:
        """Maps [B, H, W] of any type, or images [B, C, H, W]: each pixel is that of the tile with the largest weight."""
        if self.grid == 1:
            return maps
        height, width = maps.shape[-2:]
        down, across = (weight >= ONE // 2 for weight in self.weights(height, width, view))
        rows = [[self._sources(height, width, below, right, view) for right in (0, 1)] for below in (0, 1)]
        upper, lower = (torch.where(across, right, left) for left, right in rows)
        source = torch.where(down, lower, upper).flatten(1)
        flat = maps.flatten(-2)
        for _ in range(flat.ndim - 2):
            source = source[:, None]
        return flat.gather(-1, source.expand_as(flat)).view_as(maps)

    def weights(self, height: int, width: int, view: View) -> tuple[Tensor, Tensor]:
        """How much of each pixel is of the tile below the nearest level seam, and of the one right of the nearest upright
        seam, in 256ths: int32 [B, H, W] each."""
        down = self._beyond("level borders", height, width, view)
        return down, self._beyond("upright borders", width, height, view).transpose(1, 2)

    def _beyond(self, name: str, side: int, along: int, view: View) -> Tensor:
        """The weight of what is beyond the nearest seam, int32 [B, side, along]; seams cross `side` and run `along`."""
        tile = self._tile(side)
        seam = self._seams(side, view)
        reach = round(self.width * tile * ONE / 4)  # how far a border wanders, and half of what it fades over
        knots = view.draw.bytes(name, (self.grid + 1, along // self._pace(along) + 2)).to(torch.int32) - 128
        border = curve(knots, along, self._pace(along)) * reach // (128 * ONE)
        place = ONE * torch.arange(side, device=view.draw.device, dtype=torch.int32) + ONE // 2 - ONE * tile * seam
        past = place[:, None] - border[:, seam]
        if not reach:
            return (past > 0).to(torch.int32) * ONE
        return smooth((past + reach).clamp_(0, 2 * reach) * ONE // (2 * reach))

    def _tile(self, side: int) -> int:
        if side < self.grid:
            raise ValueError(f"expected a grid of at most {side} for this image, got {self.grid}")
        return side // self.grid

    def _seams(self, side: int, view: View) -> Tensor:
        """The number of the seam nearest to each pixel of a side, int64 [side]: seam s lies before pixel s · tile, s ≥ 1."""
        tile = self._tile(side)
        last = self.grid if side > self.grid * tile else self.grid - 1
        return ((2 * torch.arange(side, device=view.draw.device) + 1 + tile) // (2 * tile)).clamp_(1, last)

    def _pace(self, along: int) -> int:
        """Pixels between the knots of a border: half a tile."""
        return max(self._tile(along) // 2, 1)

    def _sources(self, height: int, width: int, below: int, right: int, view: View) -> Tensor:
        """Where each pixel comes from if it is of the tile above or below its nearest level seam and left or right of its
        upright one: int64 [B, H, W], places in the flattened image."""
        g, device = self.grid, view.draw.device
        tall, wide = self._tile(height), self._tile(width)
        source = view.tensor(view.draw.permutation("tiles", g * g)).unflatten(1, (g, g))
        place = torch.arange(g, device=device)
        # The remainder is one more tile that comes from its own place.
        rows = torch.nn.functional.pad((source // g - place[:, None]) * tall, (0, 1, 0, 1))
        columns = torch.nn.functional.pad((source % g - place) * wide, (0, 1, 0, 1))
        row = (self._seams(height, view) - 1 + below)[:, None]
        column = self._seams(width, view) - 1 + right
        y = mirrored(torch.arange(height, device=device)[:, None] + rows[:, row, column], height)
        return y * width + mirrored(torch.arange(width, device=device) + columns[:, row, column], width)


def curve(knots: Tensor, length: int, pace: int) -> Tensor:
    """A smooth curve through knots int32 [B, curves, …] `pace` pixels apart: int32 [B, curves, length], times 256."""
    place = torch.arange(length, device=knots.device)
    share = smooth((place % pace * ONE // pace).to(torch.int32))
    before = place // pace
    return knots[..., before] * (ONE - share) + knots[..., before + 1] * share


def smooth(share: Tensor) -> Tensor:
    """Smoothstep 3u² − 2u³ of shares in 256ths, 0 … 256 to 0 … 256, rounded down."""
    return share * share * (3 * ONE - 2 * share) // (ONE * ONE)


def mirrored(place: Tensor, side: int) -> Tensor:
    """Places outside 0 … side − 1 mirrored at the border, which lies between pixels: −1 is 0, −2 is 1."""
    inside = torch.where(place < 0, -1 - place, place)
    return torch.where(inside >= side, 2 * side - 1 - inside, inside)
