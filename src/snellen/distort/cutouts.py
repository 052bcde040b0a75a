"""Cut-outs of real things pasted over the image: where the occluders are known, the safer test (Marcu & Prügel-Bennett 2022)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.data.occluders import Occluders, covering, fit_cutouts, scaled_sides
from snellen.distort.distortion import Covering
from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.pasting import Stand, layer_of, sheet_of, under
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor

_SLACK = 1e-6  # of a pixel: 0.29 · 100 is 29, whatever floating point makes of it


@dataclass(frozen=True)
class Cutouts(Covering):
    """Paste one of your own cut-outs (`--occluders DIR`, PNGs with transparency), mirrored by a coin, placed uniformly.

    It is scaled until it covers the `share` of the image, 0 to 1 or a law of it, as nearly as whole pixels allow, and
    lies wholly inside. Its pixels with an alpha above 127 cover, the others do not; nothing is blended. One too slender
    or too full of holes for the share is passed over; where none can cover it, the image counts nowhere.
    """

    share: float | Law = 0.3
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"share": 0}
    cover_name: ClassVar[str] = "your cut-outs"
    needs: ClassVar[frozenset[str]] = frozenset({"occluders"})

    def __post_init__(self) -> None:
        expect_within("share", self.share, 0, 1)

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        return self._layer(images, view)[..., 3] > 0

    def paste(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        """The images with the cut-outs on them, and the cover: both from one look-up."""
        layer = self._layer(images, view)
        return under(images, layer), layer[..., 3] > 0

    def words(self) -> str:
        return f"cut-outs over {percent_in_words(self.share)}"

    def _layer(self, images: Tensor, view: View) -> Tensor:
        """uint8 [B, H, W, 4]: the cut-out of each image where it stands, alpha 0 around it; notes whose it is."""
        assert view.occluders is not None
        canvas = height, width = images.shape[2], images.shape[3]
        sizes = _sizes(view.occluders, height, width)
        chosen, size = self._choose(view, sizes, height * width)
        mirrored = view.draw.uniform("mirror") < 0.5
        stands = []
        for axis, (name, mirrors) in enumerate((("top", np.zeros_like(mirrored)), ("left", mirrored))):
            side = sizes.sides[chosen, size, axis]
            stands.append(Stand(view.draw.integer(name, canvas[axis] - side + 1), side, mirrors))
        sheet = sheet_of(view.occluders, height, width, images.device)
        return layer_of(sheet, chosen, (stands[0], stands[1]), canvas, view)

    def _choose(self, view: View, sizes: _Sizes, pixels: int) -> tuple[np.ndarray, np.ndarray]:
        """int64 [B] each: which cut-out, and in which of its sizes; size 0 covers nothing.

        The first of a shuffled pool that can cover the share: as far as it can be, the same one at every share.
        """
        assert view.occluders is not None
        wanted = view.parameter("share", self.share) * pixels
        order = view.draw.permutation("cutout", len(view.occluders.ids))
        able = sizes.most[order] >= wanted[:, None] - _SLACK
        chosen = order[np.arange(len(order)), able.argmax(1)]
        none = ~able.any(1)
        if none.any():
            view.exclude(none)
        size = np.abs(sizes.counts[chosen] - wanted[:, None]).argmin(1)
        view.notes["donor"] = np.where(none, "", np.array(view.occluders.ids, dtype=object)[chosen])
        return chosen, np.where(none, 0, size)


@dataclass(frozen=True)
class _Sizes:
    """Per cut-out of a pool and size on one canvas its sides [N, n, 2] and how many pixels it covers (counts [N, n], infinite
    where there is no such size; most [N])."""

    sides: np.ndarray
    counts: np.ndarray
    most: np.ndarray


@functools.lru_cache(maxsize=8)
def _sizes(pool: Occluders, height: int, width: int) -> _Sizes:
    cutouts, pixel_counts = fit_cutouts(pool, height, width), covering(pool, height, width)
    sizes = max(map(len, pixel_counts))
    sides = np.zeros((len(cutouts), sizes, 2), np.int64)
    counts = np.full((len(cutouts), sizes), np.inf)
    for row, (cutout, own_counts) in enumerate(zip(cutouts, pixel_counts)):
        sides[row, : len(own_counts)] = scaled_sides(cutout.shape, height, width)
        counts[row, : len(own_counts)] = own_counts
    return _Sizes(sides, counts, np.array([own_counts.max() for own_counts in pixel_counts]))
