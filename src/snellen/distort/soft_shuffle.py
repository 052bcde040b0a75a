"""Patch shuffling without straight seams: tiles overlap and fade into each other along borders that wander.

A candidate for the fairer test that Marcu & Prügel-Bennett 2022, B.5, ask for: the seams of a hard shuffle are long level and
upright edges, and a network may take those for a class. Whole numbers throughout, so every device gives the same pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.distortion import Moving
from snellen.distort.raster import expect_grid, expect_pixels, mirrored
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

ONE = 256  # a pixel's side, and a whole weight
PIXELS = 1 << 17  # blended at once on a CPU: what stays in its cache is three times as fast


@dataclass(frozen=True)
class SoftShuffle(Moving):
    """The permutation of `shuffle(grid)`, with tiles that fade into each other instead of ending.

    `width`, 0 to 1, is the share of a tile's side that the zone about a seam takes up. In it the border between two tiles
    wanders, by a quarter of the zone to either side, and over half the zone one tile fades into the other; each shows
    there what lies beyond it in the image, mirrored at the image's own border. At width 0 it is the hard shuffle; at 1
    only the middle of a tile is sure to be copied as it is. A remainder strip stays in place, and is faded into too.
    """

    grid: int = 4
    width: float = 0.75
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"grid": 1}

    def __post_init__(self) -> None:
        expect_grid(self.grid)
        if not 0 <= self.width <= 1:
            raise ValueError(f"expected width in [0, 1], got {self.width:g}")

    def check_size(self, height: int, width: int) -> None:
        expect_pixels(self.grid, height, width)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        if self.grid == 1 or not len(images):
            return images
        many = max(PIXELS // (images.shape[-2] * images.shape[-1]), 1) if images.device.type == "cpu" else len(images)
        parts = ((start, min(start + many, len(images))) for start in range(0, len(images), many))
        return torch.cat([self._blended(images[start:stop], view.rows(start, stop)) for start, stop in parts])

    def _blended(self, images: Tensor, view: View) -> Tensor:
        down, across = (weight[:, None] for weight in self.weights(images.shape[-2], images.shape[-1], view))
        (above_left, above_right), (below_left, below_right) = self._tile_pixels(images, view)
        above = (above_left << 8) + (above_right - above_left) * across
        below = (below_left << 8) + (below_right - below_left) * across
        return (((above << 8) + (below - above) * down + ONE * ONE // 2) >> 16).to(torch.uint8)

    def move(self, maps: Tensor, view: View) -> Tensor:
        """Maps [B, H, W] of any type, or images [B, C, H, W]: each pixel is that of the tile with the largest weight."""
        if self.grid == 1:
            return maps
        stack = maps[:, None] if maps.ndim == 3 else maps
        down, across = (weight[:, None] >= ONE // 2 for weight in self.weights(maps.shape[-2], maps.shape[-1], view))
        upper, lower = (torch.where(across, right, left) for left, right in self._tile_pixels(stack, view, maps.dtype))
        return torch.where(down, lower, upper).view_as(maps)

    def words(self) -> str:
        return f"{self.grid}×{self.grid} patches shuffled softly"

    def weights(self, height: int, width: int, view: View) -> tuple[Tensor, Tensor]:
        """How much of each pixel is of the tile below the nearest level seam, and of the one right of the nearest upright
        seam, in 256ths: int32 [B, H, W] each."""
        down = self._beyond("level borders", height, width, view)
        return down, self._beyond("upright borders", width, height, view).transpose(1, 2).contiguous()

    def _beyond(self, name: str, side: int, along: int, view: View) -> Tensor:
        """The weight of what is beyond the nearest seam, int32 [B, side, along]; seams cross `side` and run `along`."""
        tile = self._tile(side)
        seam = self._seams(side, view)
        reach = round(self.width * tile * ONE / 4)  # how far a border wanders, and half of what it fades over
        knots = view.draw.bytes(name, (self.grid + 1, along // self._pace(along) + 2)).to(torch.int32) - 128
        border = curve(knots, along, self._pace(along)).to(torch.int64) * reach // (128 * ONE)
        place = ONE * torch.arange(side, device=view.draw.device) + ONE // 2 - ONE * tile * seam
        past = place.to(torch.int32)[:, None] - border.to(torch.int32)[:, seam]
        if not reach:
            return (past > 0).to(torch.int32) * ONE
        per = -(-ONE * 65536 // (2 * reach))  # a product and a shift: dividing whole tensors is several times slower
        return smooth(((past + reach).clamp_(0, 2 * reach) * per >> 16).clamp_(max=ONE))

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

    def _tile_pixels(self, images: Tensor, view: View, kind: torch.dtype | None = None) -> list[list[Tensor]]:
        """What the tiles show at each pixel: [above, below] its nearest level seam, of each [left, right] of its upright
        one; tensors like images [B, C, H, W], of type `kind` (int32 if None)."""
        g, device = self.grid, images.device
        height, width = images.shape[-2:]
        tall, wide = self._tile(height), self._tile(width)
        # Mirrored so far beyond the border that every tile and the remainder can be asked past its own end.
        top, left = max(tall, height - g * tall), max(wide, width - g * wide)
        rows, columns = (
            mirrored(torch.arange(-more, side + more, device=device), side)
            for more, side in ((top, height), (left, width))
        )
        framed = images.index_select(2, rows).index_select(3, columns).flatten(2)
        source = view.tensor(view.draw.permutation("tiles", g * g)).unflatten(1, (g, g))
        place = torch.arange(g, device=device)
        stride = width + 2 * left
        # How far each tile's pixels come from, as places in the flat frame; the remainder is a tile that stays.
        apart = torch.nn.functional.pad(
            (source // g - place[:, None]) * (tall * stride) + (source % g - place) * wide, (0, 1, 0, 1)
        )
        here = (torch.arange(height, device=device)[:, None] + top) * stride + torch.arange(width, device=device) + left
        row, column = self._seams(height, view) - 1, self._seams(width, view) - 1

        def at_seams(below: int, right: int) -> Tensor:
            at = apart.index_select(1, row + below).index_select(2, column + right).add_(here).flatten(1)
            return (
                framed.gather(2, at[:, None].expand(-1, framed.shape[1], -1))
                .to(kind or torch.int32)
                .view(*images.shape)
            )

        return [[at_seams(below, right) for right in (0, 1)] for below in (0, 1)]


def curve(knots: Tensor, length: int, pace: int) -> Tensor:
    """A smooth curve through knots int32 [B, curves, …] `pace` pixels apart: int32 [B, curves, length], times 256."""
    place = torch.arange(length, device=knots.device)
    share = smooth((place % pace * ONE // pace).to(torch.int32))
    before = place // pace
    return knots[..., before] * (ONE - share) + knots[..., before + 1] * share


def smooth(share: Tensor) -> Tensor:
    """Smoothstep 3u² − 2u³ of shares in 256ths, 0 … 256 to 0 … 256, rounded down."""
    return share * share * (3 * ONE - 2 * share) >> 16
