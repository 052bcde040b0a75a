"""Lattices: a pattern of small squares over the whole image (Kassaw et al. 2024, appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.fills import Fill, Painting
from snellen.distort.law import percent_in_words
from snellen.distort.raster import FINEST
from snellen.distort.view import View
from snellen.lazy_torch import torch
from snellen.notation import expect_at_most, format_value

if TYPE_CHECKING:
    from torch import Tensor

TILES = {
    0.0: ((0, 0), (0, 0)),
    0.25: ((1, 0), (0, 0)),
    0.5: ((1, 0), (0, 1)),
    0.75: ((1, 1), (0, 1)),
}  # which of a tile's 2 × 2 squares cover


@dataclass(frozen=True)
class Lattice(Painting):
    """Cover squares of `px` pixels in a regular pattern, from the top left corner on (Kassaw et al. 2024, appendix F).

    `share` is 0, 0.25, 0.5 or 0.75: of every 2 × 2 squares the first, the first and the last, or all but the lower left.
    It is exact where the sides of the image are multiples of 2·px. Published: 1, 2, 4, 8 and 16 px at 224 px.
    """

    share: float = 0.5
    px: int = 4
    fill: Fill = "grey"
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"share": 0.0}
    cover_name: ClassVar[str] = "lattices"

    def __post_init__(self) -> None:
        if self.share not in TILES:
            raise ValueError(f"expected share of 0, 0.25, 0.5 or 0.75, got {format_value(self.share)}")
        if self.px < 1:
            raise ValueError(f"expected px of at least 1, got {self.px}")
        expect_at_most(FINEST, px=self.px)

    def check_size(self, height: int, width: int) -> None:
        if 2 * self.px > min(height, width):
            raise ValueError(f"expected px of at most {min(height, width) // 2} for this image, got {self.px}")

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W], the same for every image."""
        tile = torch.tensor(TILES[self.share], dtype=torch.bool, device=images.device)
        rows, columns = (
            torch.arange(length, device=images.device) // self.px % 2 for length in (images.shape[2], images.shape[3])
        )
        return tile[rows][:, columns].expand(len(images), -1, -1)

    def words(self) -> str:
        return f"{self.fill} lattice of {self.px} px over {percent_in_words(self.share)}"
