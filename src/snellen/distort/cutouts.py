"""Cut-outs of real things pasted over the image: where the occluders are known, the safer test (Marcu & Prügel-Bennett 2022)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.data.occluders import Occluders, covering, fit_cutouts, scaled_sides
from snellen.distort.distortion import Covering
from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.view import View
from snellen.lazy_torch import torch

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
        return _under(images, layer), layer[..., 3] > 0

    def words(self) -> str:
        return f"cut-outs over {percent_in_words(self.share)}"

    def _layer(self, images: Tensor, view: View) -> Tensor:
        """uint8 [B, H, W, 4]: the cut-out of each image where it stands, alpha 0 around it; notes whose it is."""
        assert view.occluders is not None
        height, width = images.shape[2:]
        pool = view.occluders
        sheet = _sheet(pool, height, width, images.device)
        chosen, size = self._choose(view, sheet, height * width)
        sides = sheet.sides[chosen, size]
        mirrored = view.draw.uniform("mirror") < 0.5
        down, rows = _source(view, "top", sides[:, 0], sheet.shapes[chosen, 0], height, np.zeros(len(sides), bool))
        across, columns = _source(view, "left", sides[:, 1], sheet.shapes[chosen, 1], width, mirrored)
        first = view.tensor(chosen * sheet.longest**2)[:, None, None]
        place = first + view.tensor(rows * sheet.longest)[:, :, None] + view.tensor(columns)[:, None, :]
        inside = view.tensor(down)[:, :, None] & view.tensor(across)[:, None, :]
        packed = sheet.pixels.take(place).masked_fill_(~inside, 0)
        return packed.view(torch.uint8).view(*packed.shape, 4)

    def _choose(self, view: View, sheet: _Sheet, pixels: int) -> tuple[np.ndarray, np.ndarray]:
        """int64 [B] each: which cut-out, and in which of its sizes; size 0 covers nothing.

        The first of a shuffled pool that can cover the share: as far as it can be, the same one at every share.
        """
        assert view.occluders is not None
        wanted = view.parameter("share", self.share) * pixels
        order = view.draw.permutation("cutout", len(view.occluders.ids))
        able = sheet.most[order] >= wanted[:, None] - _SLACK
        chosen = order[np.arange(len(order)), able.argmax(1)]
        none = ~able.any(1)
        if none.any():
            view.exclude(none)
        size = np.abs(sheet.counts[chosen] - wanted[:, None]).argmin(1)
        view.notes["donor"] = np.where(none, "", np.array(view.occluders.ids, dtype=object)[chosen])
        return chosen, np.where(none, 0, size)


@dataclass(frozen=True)
class _Sheet:
    """A pool on one canvas: pixels int32 [N · longest²] (RGBA in four bytes), shapes [N, 2], and per cut-out and size its
    sides [N, n, 2] and how many pixels it covers (counts [N, n], infinite where there is no such size; most [N])."""

    pixels: Tensor
    longest: int
    shapes: np.ndarray
    sides: np.ndarray
    counts: np.ndarray
    most: np.ndarray


@functools.lru_cache(maxsize=8)
def _sheet(pool: Occluders, height: int, width: int, device: torch.device) -> _Sheet:
    cutouts, pixel_counts = fit_cutouts(pool, height, width), covering(pool, height, width)
    longest = max(max(one.shape[:2]) for one in cutouts)
    sizes = max(map(len, pixel_counts))
    pixels = np.zeros((len(cutouts), longest, longest, 4), np.uint8)
    sides = np.zeros((len(cutouts), sizes, 2), np.int64)
    counts = np.full((len(cutouts), sizes), np.inf)
    for row, (cutout, own_counts) in enumerate(zip(cutouts, pixel_counts)):
        pixels[row, : cutout.shape[0], : cutout.shape[1]] = cutout
        sides[row, : len(own_counts)] = scaled_sides(cutout.shape, height, width)
        counts[row, : len(own_counts)] = own_counts
    shapes = np.array([one.shape[:2] for one in cutouts], np.int64)
    most = np.array([own_counts.max() for own_counts in pixel_counts])
    packed = torch.from_numpy(pixels).view(torch.int32).reshape(-1).to(device)
    return _Sheet(packed, longest, shapes, sides, counts, most)


def _source(
    view: View, name: str, side: np.ndarray, length: np.ndarray, canvas: int, mirrored: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """[B, canvas] of one axis: where the cut-out lies (bool), and which of its own pixels is there (int64, 0 outside)."""
    start = view.draw.integer(name, canvas - side + 1)
    at = np.arange(canvas) - start[:, None]
    inside = (at >= 0) & (at < side[:, None])
    at = np.where(mirrored[:, None], side[:, None] - 1 - at, at)
    source = (2 * at + 1) * length[:, None] // (2 * np.maximum(side, 1)[:, None])
    return inside, np.where(inside, source, 0)


def _under(images: Tensor, layer: Tensor) -> Tensor:
    """The images under a layer uint8 [B, H, W, 4] whose alpha is 0 or 255; bitwise, which is faster than torch.where."""
    colours, hidden = layer[..., :3].permute(0, 3, 1, 2), layer[..., 3][:, None]
    return (images ^ colours).bitwise_and_(hidden).bitwise_xor_(images)
