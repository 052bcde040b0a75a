"""Cut-out objects of one size, before the middle of the image (Kassaw et al. 2024, appendix E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.occluders.placing import Placing, expect_shares, hiding_in_words
from snellen.distort.pasting import Stand, layer_of, sheet_of, under
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class CutoutObject(Placing):
    """Paste one of your own cut-outs (`--occluders DIR`, PNGs with transparency) over the middle (Kassaw et al. 2024).

    `size` is the area of the rectangle around it as a share of the image, 0 to 1, or a law of it; what shows through holes is
    not taken off. With `stretch` it takes the image's aspect, as published, else it keeps its own, as far as that fits.
    Its centre is drawn from the middle half of either axis. Pixels with an alpha above 127 cover, the others do not. `least`
    and `most` bound the hidden share of the object (published: 0.05 and 0.95): others are drawn again, up to 100 times, then
    the image counts nowhere. `cutouts` scales by the pixels that cover and lies anywhere in the image.
    """

    size: float | Law = 0.25
    stretch: bool = True
    least: float = 0.0
    most: float = 1.0
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"size": 0}
    cover_name: ClassVar[str] = "your cut-out objects"

    def __post_init__(self) -> None:
        expect_within("size", self.size, 0, 1)
        expect_shares(self.least, self.most)

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | {"occluders"}

    def place(self, view: View, height: int, width: int, attempt: int) -> np.ndarray:
        """int64 [B, 5]: which cut-out, first row, rows, first column, columns."""
        assert view.occluders is not None
        chosen = view.draw.integer("cutout", len(view.occluders.ids), attempt)
        places = [chosen]
        for name, length, side in zip(("row", "column"), (height, width), self._sides(view, chosen, height, width)):
            reach = max(length // 4 - 1, 0)
            offset = view.draw.integer(name, 2 * reach + 1, attempt) - reach
            places += [(length - side) // 2 + offset, side]
        return np.stack(places, 1)

    def hide(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """bool [B, H, W]."""
        return self._layer(places, height, width, view)[..., 3] > 0

    def paste(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        """The images with the cut-outs on them, and the cover; notes whose they are."""
        assert view.occluders is not None
        places, cover = self.settle(images, view)
        shown = cover.flatten(1).any(1).cpu().numpy()
        view.notes["donor"] = np.where(shown, np.array(view.occluders.ids, dtype=object)[places[:, 0]], "")
        height, width = images.shape[2:]
        layer = self._layer(places, height, width, view)
        layer[..., 3] *= cover  # excluded images show none
        return under(images, layer), cover

    def words(self) -> str:
        aspect = "" if self.stretch else " in its own aspect"
        return f"cut-out object of {percent_in_words(self.size)}{aspect}{hiding_in_words(self.least, self.most)}"

    def _sides(self, view: View, chosen: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
        """int64 [B] each: rows and columns that the cut-out takes up on the canvas; at least one where it has a size."""
        share = view.parameter("size", self.size)
        down = across = np.sqrt(share)
        if not self.stretch:
            assert view.occluders is not None
            shapes = np.array([cutout.shape[:2] for cutout in view.occluders.cutouts])[chosen]
            aspect = np.sqrt(shapes[:, 0] * width / (shapes[:, 1] * height))
            down, across = down * aspect, across / aspect
        rows, columns = (
            np.clip(np.rint(part * length), np.where(share > 0, 1, 0), length).astype(np.int64)
            for part, length in ((down, height), (across, width))
        )
        return rows, columns

    def _layer(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """uint8 [B, H, W, 4]: the cut-outs where they stand, alpha 0 around them."""
        assert view.occluders is not None
        chosen, top, rows, left, columns = places.T
        upright = np.zeros(len(places), bool)
        stands = Stand(top, rows, upright), Stand(left, columns, upright)
        return layer_of(
            sheet_of(view.occluders, height, width, view.draw.device), chosen, stands, (height, width), view
        )
