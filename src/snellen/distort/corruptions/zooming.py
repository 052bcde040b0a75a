"""Zooming into the middle, linear between the pixels, the corners of both rasters one upon the other; the zoom blur."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def zoom_blur(images: Tensor, view: View, settings: tuple[float, float]) -> Tensor:
    """The mean of the image, once more, and of zooms from 1 on in equal steps."""
    factors = np.arange(1, settings[0], settings[1]).tolist()
    return torch.cat([_mean_of_zooms(part, factors) for part in images.split(1)])  # one image stays in the cache


def _mean_of_zooms(images: Tensor, factors: Sequence[float]) -> Tensor:
    pixels = images.float()
    total = pixels.clone()
    for factor in factors:
        zoomed = zoomed_in(pixels, factor)[..., : pixels.shape[2], : pixels.shape[3]]
        total[..., : zoomed.shape[2], : zoomed.shape[3]].add_(zoomed)
    return total.div_(len(factors) + 1).clamp_(0, 255).to(torch.uint8)


def zoomed_in(pixels: Tensor, factor: float) -> Tensor:
    """float [B, C, h, w]: the middle of images [B, C, H, W], enlarged; as large as they are but for some pixels."""
    for dim in (2, 3):
        first, second, share = _between(pixels.shape[dim], factor, pixels.device)
        near, far = pixels.index_select(dim, first), pixels.index_select(dim, second)
        pixels = far.sub_(near).mul_(share[:, None] if dim == 2 else share).add_(near)
    return pixels


@functools.lru_cache(maxsize=128)
def _between(side: int, factor: float, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """For each enlarged pixel the two that it lies between, and how far it is from the first."""
    used = math.ceil(side / factor)
    start, enlarged = (side - used) // 2, round(used * factor)
    places = np.linspace(0, used - 1, enlarged)
    first = np.minimum(np.floor(places), max(used - 2, 0)).astype(np.int64)
    second = np.minimum(first + 1, used - 1)
    parts = (start + first, start + second, (places - first).astype(np.float32))
    return tuple(torch.from_numpy(part).to(device) for part in parts)  # type: ignore[return-value]
