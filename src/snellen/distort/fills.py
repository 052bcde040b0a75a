"""Fills: what a covered pixel is painted with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from snellen.distort.distortion import Covering
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


Fill = Literal["black", "white", "grey", "mean", "image_mean", "noise", "stripes", "donor"]
Paint = Callable[["Tensor", View], "Tensor"]  # images → uint8 that broadcasts to their shape

NEEDS: dict[str, frozenset[str]] = {"mean": frozenset({"mean"}), "donor": frozenset({"donors"})}
RANDOM = frozenset({"noise", "donor"})  # fills whose pixels are drawn


class Painting(Covering):
    """A distortion that covers pixels and paints them with its `fill`."""

    @property
    @abstractmethod
    def fill(self) -> Fill: ...

    @property
    def needs(self) -> frozenset[str]:
        return NEEDS.get(self.fill, frozenset())

    @property
    def draws(self) -> bool:
        return self.fill in RANDOM or super().draws

    def paste(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        cover = self.cover(images, view)
        return painted(self.fill, cover, images, view), cover


def painted(fill: str, cover: Tensor, images: Tensor, view: View) -> Tensor:
    """The images with the covered pixels (bool [B, H, W]) replaced by the fill.

    On a CPU bitwise instead of by torch.where: several times faster on bytes. On a GPU it is the slower way.
    """
    pixels = paint(fill, images, view)
    if images.is_cuda:
        return torch.where(cover[:, None], pixels, images)
    hidden = cover[:, None].to(torch.uint8).neg_()
    return (images ^ pixels).bitwise_and_(hidden).bitwise_xor_(images)


def paint(fill: str, images: Tensor, view: View) -> Tensor:
    """The fill's pixels, uint8, broadcasting to the images' shape [B, 3, H, W]."""
    return PAINTS[fill](images, view)


def _constant(value: int) -> Paint:
    def constant(images: Tensor, view: View) -> Tensor:
        return torch.full((1, 1, 1, 1), value, dtype=torch.uint8, device=images.device)

    return constant


def _mean(images: Tensor, view: View) -> Tensor:
    """The model's normalisation mean: zero after normalising."""
    assert view.mean is not None
    return view.tensor(np.rint(view.mean).astype(np.uint8)).view(1, 3, 1, 1)


def _image_mean(images: Tensor, view: View) -> Tensor:
    """Each image's own mean colour, rounded; summed as whole numbers, so equal on every device."""
    pixels = images.shape[2] * images.shape[3]
    total = images.flatten(2).to(torch.int32).sum(2, dtype=torch.int32).to(torch.int64)
    return ((2 * total + pixels) // (2 * pixels)).to(torch.uint8)[:, :, None, None]


def _noise(images: Tensor, view: View) -> Tensor:
    """Every pixel and channel uniform in 0…255."""
    return view.draw.bytes("fill", tuple(images.shape[1:]))


def _stripes(images: Tensor, view: View) -> Tensor:
    """Black and white diagonal stripes, a sixteenth of the height wide."""
    height, width = images.shape[2:]
    rows = torch.arange(height, device=images.device)[:, None]
    columns = torch.arange(width, device=images.device)
    wide = max(1, height // 16)
    return (((rows + columns) // wide % 2) * 255).to(torch.uint8)[None, None]


def _donor(images: Tensor, view: View) -> Tensor:
    """The same region of an image drawn uniformly from the donor pool."""
    assert view.donors is not None
    pool = view.donors
    if pool.images.shape[1:] != images.shape[1:]:
        raise ValueError(f"expected donors of shape {list(images.shape[1:])}, got {list(pool.images.shape[1:])}")
    chosen = view.draw.integer("donor", len(pool.ids))
    view.notes["donor"] = np.array(pool.ids, dtype=object)[chosen]
    return pool.images[view.tensor(chosen)]


PAINTS: dict[str, Paint] = {
    "black": _constant(0),
    "white": _constant(255),
    "grey": _constant(127),
    "mean": _mean,
    "image_mean": _image_mean,
    "noise": _noise,
    "stripes": _stripes,
    "donor": _donor,
}
