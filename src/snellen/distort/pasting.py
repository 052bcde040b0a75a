"""Pasting cut-outs: a pool laid out on one canvas, and each image's cut-out where it stands."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.occluders import Occluders, fit_cutouts
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Sheet:
    """A pool on one canvas: pixels int32 [N · longest²] (RGBA in four bytes) and the cut-outs' shapes, int64 [N, 2]."""

    pixels: Tensor
    longest: int
    shapes: np.ndarray


@dataclass(frozen=True)
class Stand:
    """One axis of each image's cut-out: its first pixel on the canvas and how many it takes there, int64 [B]; and whether
    it is mirrored along the axis, bool [B]."""

    start: np.ndarray
    side: np.ndarray
    mirrored: np.ndarray

    def source(self, length: np.ndarray, canvas: int) -> tuple[np.ndarray, np.ndarray]:
        """[B, canvas]: where the cut-out lies (bool), and which of its own `length` pixels is there (int64, 0 outside)."""
        at = np.arange(canvas) - self.start[:, None]
        inside = (at >= 0) & (at < self.side[:, None])
        at = np.where(self.mirrored[:, None], self.side[:, None] - 1 - at, at)
        source = (2 * at + 1) * length[:, None] // (2 * np.maximum(self.side, 1)[:, None])
        return inside, np.where(inside, source, 0)


@functools.lru_cache(maxsize=8)
def sheet_of(pool: Occluders, height: int, width: int, device: torch.device) -> Sheet:
    """The pool's cut-outs, none longer than the image."""
    cutouts = fit_cutouts(pool, height, width)
    longest = max(max(cutout.shape[:2]) for cutout in cutouts)
    pixels = np.zeros((len(cutouts), longest, longest, 4), np.uint8)
    for row, cutout in enumerate(cutouts):
        pixels[row, : cutout.shape[0], : cutout.shape[1]] = cutout
    shapes = np.array([cutout.shape[:2] for cutout in cutouts], np.int64)
    return Sheet(torch.from_numpy(pixels).view(torch.int32).reshape(-1).to(device), longest, shapes)


def layer_of(
    sheet: Sheet, chosen: np.ndarray, stands: tuple[Stand, Stand], canvas: tuple[int, int], view: View
) -> Tensor:
    """uint8 [B, H, W, 4]: the chosen cut-outs (int64 [B]) where they stand, down and across, alpha 0 around them."""
    (down, rows), (across, columns) = (
        stand.source(sheet.shapes[chosen, axis], canvas[axis]) for axis, stand in enumerate(stands)
    )
    first = view.tensor(chosen * sheet.longest**2)[:, None, None]
    place = first + view.tensor(rows * sheet.longest)[:, :, None] + view.tensor(columns)[:, None, :]
    inside = view.tensor(down)[:, :, None] & view.tensor(across)[:, None, :]
    packed = sheet.pixels.take(place).masked_fill_(~inside, 0)
    return packed.view(torch.uint8).view(*packed.shape, 4)


def under(images: Tensor, layer: Tensor) -> Tensor:
    """The images under a layer uint8 [B, H, W, 4] whose alpha is 0 or 255; bitwise, which is faster than torch.where."""
    colours, hidden = layer[..., :3].permute(0, 3, 1, 2), layer[..., 3][:, None]
    return (images ^ colours).bitwise_and_(hidden).bitwise_xor_(images)
