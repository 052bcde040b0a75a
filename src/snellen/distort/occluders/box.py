"""Boxes of drawn size and place (Kassaw et al. 2024, appendices E and F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.fills import Fill, Painting
from snellen.distort.occluders.placing import Placing, expect_shares, hiding_in_words
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

MARGIN, SHORTEST = 30, 50  # pixels, of law=synthetic_code: from the border to the corner; the least side


@dataclass(frozen=True)
class Box(Placing, Painting):
    """Cover one box whose sides and place are drawn (Kassaw et al. 2024); what leaves the image is lost.

    `law`, per axis of L pixels: `synthetic` draws the centre uniformly and the side from a Gaussian of mean L/2 and
    deviation 3L/10 (appendix E), `diffuse` of 4L/10 (appendix F). The published code does otherwise: `synthetic_code` draws
    the first corner from 30 to D − 31 and the sides from 50 to D − 1, whole pixels of the longer side D; `diffuse_code` draws
    the centre from a Gaussian of mean L/2 and deviation L/4, the side as L·√g with g of mean 0.5, deviation 0.4, cut to 0–1.
    `least` and `most` bound the hidden share of the object (published: 0.05 and 0.95): other boxes are drawn again, up to
    100 times, then the image counts nowhere.
    """

    law: Literal["synthetic", "synthetic_code", "diffuse", "diffuse_code"] = "synthetic"
    fill: Fill = "black"
    least: float = 0.0
    most: float = 1.0
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    cover_name: ClassVar[str] = "boxes"

    def __post_init__(self) -> None:
        expect_shares(self.least, self.most)

    def check_size(self, height: int, width: int) -> None:
        if self.law == "synthetic_code" and max(height, width) <= 2 * MARGIN:
            raise ValueError(
                f"expected more than {2 * MARGIN} pixels along the longer side for law=synthetic_code, got "
                f"{max(height, width)}; law=synthetic suits any size"
            )

    def place(self, view: View, height: int, width: int, attempt: int) -> np.ndarray:
        """int64 [B, 4]: first row, end, first column, end; not yet cut at the image's border."""
        if self.law == "synthetic_code":
            self.check_size(height, width)
            longer = max(height, width)
            corners = [MARGIN + view.draw.integer(name, longer - 2 * MARGIN, attempt) for name in ("top", "left")]
            sides = [SHORTEST + view.draw.integer(name, longer - SHORTEST, attempt) for name in ("height", "width")]
            return np.stack([corners[0], corners[0] + sides[0], corners[1], corners[1] + sides[1]], 1)
        ends = []
        for names, length in ((("row", "height"), height), (("column", "width"), width)):
            centre, side = (length * share for share in self._shares(view, names, attempt))
            ends += [np.floor(centre - side / 2), np.floor(centre + side / 2)]
        return np.stack(ends, 1).astype(np.int64)

    def hide(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """bool [B, H, W]."""
        ends = view.tensor(places)[:, :, None]
        rows, columns = (torch.arange(length, device=ends.device) for length in (height, width))
        down = (rows >= ends[:, 0]) & (rows < ends[:, 1])
        across = (columns >= ends[:, 2]) & (columns < ends[:, 3])
        return down[:, :, None] & across[:, None, :]

    def words(self) -> str:
        return f"{self.fill} box ({self.law.replace('_', ' ')} law){hiding_in_words(self.least, self.most)}"

    def _shares(self, view: View, names: tuple[str, str], attempt: int) -> tuple[np.ndarray, np.ndarray]:
        """float64 [B] each: centre and side of one axis as shares of its length."""
        size = view.draw.gaussian(names[1], attempt)
        if self.law == "diffuse_code":
            centre = 0.5 + 0.25 * view.draw.gaussian(names[0], attempt)
            return centre, np.sqrt(np.clip(0.5 + 0.4 * size, 0, 1))
        deviation = 0.3 if self.law == "synthetic" else 0.4
        return view.draw.uniform(names[0], attempt), np.maximum(0.5 + deviation * size, 0)
