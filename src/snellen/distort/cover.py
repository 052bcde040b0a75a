"""Distortions that cover pixels: one square, some tiles of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.fills import Fill, Painting
from snellen.distort.law import Beta, Law, Uniform, expect_within, percent_in_words
from snellen.distort.raster import expect_grid, expect_pixels
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Occlude(Painting):
    """Cover one rectangle of the image's aspect (a square on a square canvas), placed uniformly.

    `area` is the covered share, 0 to 1, or a law of it. With `inside` it lies wholly inside the image, else its centre
    is any pixel and what leaves the image is lost. `law=exact` takes the sides nearest to the area; `law=published` is
    the rule of the public code of Marcu & Prügel-Bennett 2022, for parity: even sides, and inside the image the centre is
    drawn from round(h/2) to H − round(h/2) − 1, so that one edge is never reached.
    """

    area: float | Law = 0.3
    fill: Fill = "black"
    inside: bool = True
    law: Literal["exact", "published"] = "exact"
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"area": 0}
    cover_name: ClassVar[str] = "squares"

    @property
    def version(self) -> int:  # of its text form: the other laws keep their pixels
        return 2 if self.law == "published" and self.inside else 1

    def __post_init__(self) -> None:
        if isinstance(self.law, Uniform | Beta):
            raise ValueError(f"a law of the area goes into area: occlude(area={self.law})")
        expect_within("area", self.area, 0, 1)

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        share = np.sqrt(view.parameter("area", self.area))
        down, across = (
            self._axis(view, name, np.rint(share * length).astype(np.int64), length)
            for name, length in zip(("top", "left"), images.shape[2:])
        )
        return down[:, :, None] & across[:, None, :]

    def _axis(self, view: View, name: str, side: np.ndarray, length: int) -> Tensor:
        """bool [B, length]: where one axis of the rectangle lies."""
        if self.law == "exact":
            return span(view, name, side, length, self.inside)
        even = side // 2 * 2
        if not self.inside:
            return span(view, name, even, length, self.inside)
        margin = np.rint(side / 2).astype(np.int64)  # a half rounds to the even number, as Python's round does
        fixed = margin == round(length / 2)
        centre = margin + view.draw.integer(name, np.maximum(length - 2 * margin, 1))
        return between(view, np.where(fixed, side // 2, centre) - side // 2, even, length)

    def words(self) -> str:
        reach = "" if self.inside else " (partly outside)"
        return f"{self.fill} square of {percent_in_words(self.area)}{reach}"


@dataclass(frozen=True)
class Tiles(Painting):
    """Cover a share of the tiles of a `grid` × `grid` raster, chosen uniformly.

    `share` is 0 to 1, rounded to whole tiles. Tile edges are at i·side // grid, so a remainder makes some larger.
    """

    grid: int = 4
    share: float | Law = 0.3
    fill: Fill = "black"
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"share": 0}
    cover_name: ClassVar[str] = "tiles"

    def __post_init__(self) -> None:
        expect_grid(self.grid)
        expect_within("share", self.share, 0, 1)

    def check_size(self, height: int, width: int) -> None:
        expect_pixels(self.grid, height, width)

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        height, width = images.shape[2:]
        count = np.rint(view.parameter("share", self.share) * self.grid**2)
        rank = np.argsort(view.draw.permutation("tiles", self.grid**2), axis=1, kind="stable")
        covered = view.tensor(rank < count[:, None]).view(-1, self.grid, self.grid)
        rows, columns = (_tile_of(length, self.grid).to(images.device) for length in (height, width))
        return covered[:, rows][:, :, columns]

    def words(self) -> str:
        return f"{self.fill} tiles over {percent_in_words(self.share)} of {self.grid}×{self.grid}"


def span(view: View, name: str, side: np.ndarray, length: int, inside: bool) -> Tensor:
    """bool [B, length]: where one axis of the rectangle lies."""
    if inside:
        start = view.draw.integer(name, length - side + 1)
    else:
        start = view.draw.integer(name, length) - side // 2
    return between(view, start, side, length)


def between(view: View, start: np.ndarray, side: np.ndarray, length: int) -> Tensor:
    """bool [B, length]: `side` pixels from `start` on."""
    first, end = view.tensor(np.stack([start, start + side])[:, :, None])
    at = torch.arange(length, device=first.device)
    return (at >= first) & (at < end)


def _tile_of(length: int, grid: int) -> Tensor:
    """int64 [length]: the tile each pixel of an axis belongs to."""
    edges = np.arange(1, grid) * length // grid
    return torch.from_numpy(np.searchsorted(edges, np.arange(length), side="right"))
