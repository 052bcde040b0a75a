"""How alike two pictures are: structural similarity and agreement of edges, for whole batches."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

REACH, SIGMA = 5, 1.5  # the window of Wang et al. (2004): 11 × 11 pixels
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
LUMINANCE = (0.299, 0.587, 0.114)


def ssim(before: Tensor, after: Tensor) -> Tensor:
    """float [B]: the structural similarity of images uint8 [B, 3, H, W], −1 to 1 (Wang et al. 2004).

    Of the luminance, as there, in Gaussian windows of 11 × 11 pixels (σ 1.5) about every pixel, the image mirrored at its
    border; the mean over pixels. Two equal images have 1.
    """
    x, y = _luminance(before), _luminance(after)
    mean_x, mean_y = _window(x), _window(y)
    # The same operations for both, so that equal images give exactly 1.
    var_x, var_y = _window(x * x) - mean_x * mean_x, _window(y * y) - mean_y * mean_y
    cov = _window(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + C1) * (2 * cov + C2)
    below = (mean_x * mean_x + mean_y * mean_y + C1) * (var_x + var_y + C2)
    return (above / below).flatten(1).mean(1)


def edge_agreement(before: Tensor, after: Tensor) -> Tensor:
    """float [B]: the correlation of the edges of images uint8 [B, 3, H, W], −1 to 1.

    An edge is the length of the Sobel gradient of the luminance, at every pixel. Brighter, weaker or inverted pictures keep
    their edges. Of two pictures without edges it is 1, of one with and one without 0.
    """
    first, second = (_edges(images).flatten(1).double() for images in (before, after))
    first, second = (edges - edges.mean(1, keepdim=True) for edges in (first, second))
    spread = [edges.square().sum(1).sqrt() for edges in (first, second)]
    flat = [length < 1e-6 for length in spread]
    correlation = (first * second).sum(1) / (spread[0] * spread[1]).clamp(min=1e-12)
    return torch.where(flat[0] | flat[1], (flat[0] & flat[1]).double(), correlation.clamp(-1, 1)).float()


def _luminance(images: Tensor) -> Tensor:
    """float [B, 1, H, W] in 0…255, of images uint8 [B, 3, H, W]."""
    shares = torch.tensor(LUMINANCE, device=images.device)[:, None, None]
    return (images.float() * shares).sum(1, keepdim=True)


def _window(planes: Tensor) -> Tensor:
    """The weighted mean about every pixel of planes float [B, C, H, W]."""
    down, across = (_weights(side, planes.device) for side in planes.shape[-2:])
    return down @ planes @ across.T


@functools.lru_cache(maxsize=16)
def _weights(side: int, device: torch.device) -> Tensor:
    """float32 [side, side]: what each pixel of a row gives to each window; the row is mirrored at its first and last pixel."""
    bell = np.exp(-0.5 * (np.arange(-REACH, REACH + 1) / SIGMA) ** 2)
    period = max(2 * (side - 1), 1)
    weights = np.zeros((side, side))
    for place in range(side):
        there = np.abs(np.arange(place - REACH, place + REACH + 1)) % period
        np.add.at(weights[place], np.minimum(there, period - there) if side > 1 else there * 0, bell / bell.sum())
    return torch.from_numpy(weights).float().to(device)


def _edges(images: Tensor) -> Tensor:
    """float [B, H, W]: the length of the Sobel gradient; border pixels are repeated beyond the border."""
    grey = torch.nn.functional.pad(_luminance(images), (1, 1, 1, 1), mode="replicate")[:, 0]
    along, up = grey[:, :-2] + 2 * grey[:, 1:-1] + grey[:, 2:], grey[..., :-2] + 2 * grey[..., 1:-1] + grey[..., 2:]
    return torch.hypot(along[..., 2:] - along[..., :-2], up[:, 2:] - up[:, :-2])
