"""A Gaussian blur in whole numbers, the same on every device."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_BITS = 12  # of the weights, and of a pixel between the two directions: their products are exact in float32
_BLOCK = 56  # pixels made at once from the stretch that reaches them: half the work of whole rows at 224 px
_IMAGES = 4  # at once on a CPU: what stays in its cache is twice as fast


def blurred(images: Tensor, sigma: float) -> Tensor:
    """uint8 [B, C, H, W] blurred by a Gaussian of `sigma` pixels, cut at 4 sigma; pixels of the border are repeated.

    Products of matrices whose entries and sums are whole numbers below 2^24, so no order of summation changes a pixel.
    """
    if sigma == 0 or not len(images):
        return images
    many = _IMAGES if images.device.type == "cpu" else len(images)
    return torch.cat([_blurred(part, sigma) for part in images.split(many)])


def _blurred(images: Tensor, sigma: float) -> Tensor:
    # A GPU may round float32 products to fewer bits; its float64 ones are exact, and fast enough.
    kind = torch.float32 if images.device.type == "cpu" else torch.float64
    down, across = (_spread(side, sigma, images.device, kind) for side in images.shape[2:])
    pixels = images.to(kind)
    half = torch.cat([pixels[..., first:last] @ weights.T for first, last, weights in across], -1)
    half = half.add_(128).mul_(2**-8).floor_()  # 20 bits to 12: a 16th of a grey level
    whole = torch.cat([weights @ half[..., first:last, :] for first, last, weights in down], -2)
    return whole.add_(2**15).mul_(2**-16).to(torch.uint8)


@functools.lru_cache(maxsize=16)
def _spread(side: int, sigma: float, device: torch.device, kind: torch.dtype) -> list[tuple[int, int, Tensor]]:
    """For each block of blurred pixels: the first and last + 1 of those that reach it, and how much of each goes where.

    Weights [block, reaching] are whole numbers that add up to 2^12 for each blurred pixel.
    """
    reach = int(np.ceil(4 * sigma))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights = np.floor(bell / bell.sum() * 2**_BITS + 0.5)
    weights[reach] += 2**_BITS - weights.sum()
    spread = np.zeros((side, side))
    for row in range(side):
        np.add.at(spread[row], np.clip(np.arange(row - reach, row + reach + 1), 0, side - 1), weights)
    blocks = []
    for start in range(0, side, _BLOCK):
        used = np.flatnonzero(spread[start : start + _BLOCK].any(0))
        first, last = int(used[0]), int(used[-1]) + 1
        part = np.ascontiguousarray(spread[start : start + _BLOCK, first:last])
        blocks.append((first, last, torch.from_numpy(part).to(kind).to(device)))
    return blocks
