"""Blends of two images, pixel by pixel."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.law import Law
from snellen.distort.photometric.lookup import between, blend
from snellen.distort.photometric.tables import parameter
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_IMAGES_AT_ONCE = 64  # on a CPU: float32 of 32-px images that stays in its cache
_ROUNDINGS = (-0.5, -0.498, -0.49, -0.48)  # what makes rounding to the nearest of OpenCV a rounding down


def blend_images(low: Tensor, high: Tensor, factor: float | Law, view: View) -> Tensor:
    """uint8 [B, C, H, W]: Pillow's blend of two batches by one factor, or by a law of it per image.

    `low` may be [B, 1, H, W], for all channels.
    """
    if isinstance(factor, int | float) and factor == 1:
        return high
    if low.device.type == "cpu" and isinstance(factor, int | float):
        offset = _opencv_offset(float(factor))
        if offset is not None:
            return _by_opencv(low, high, float(factor), offset)
    factors = parameter(view, "factor", factor).float()
    size = _IMAGES_AT_ONCE if low.device.type == "cpu" else max(1, len(low))
    # One factor as a number without axes: a product with it is faster than one that is broadcast. Parts go straight into the
    # outcome: joining them would cost as much as making them.
    count = -(-len(low) // size)
    shares = [factors[0]] * count if len(factors) == 1 else list(factors[:, None, None, None].split(size))
    outcome = torch.empty_like(high)
    for below, above, share, part in zip(low.split(size), high.split(size), shares, outcome.split(size)):
        part.copy_(between(below, above, share))
    return outcome


def _by_opencv(low: Tensor, high: Tensor, factor: float, offset: float) -> Tensor:
    import cv2

    outcome = torch.empty_like(high, memory_format=torch.contiguous_format)
    below, above, blended = (tensor.contiguous().flatten(2).numpy() for tensor in (low, high, outcome))
    for channel in range(high.shape[1]):
        first = below[:, min(channel, low.shape[1] - 1)]
        cv2.addWeighted(first, 1 - factor, above[:, channel], factor, offset, dst=blended[:, channel])
    return outcome


@functools.lru_cache(maxsize=1024)
def _opencv_offset(factor: float) -> float | None:
    """The offset with which OpenCV's weighted sum, four times as fast, gives every one of the 65,536 pairs its very value."""
    import cv2

    low, high = (np.ascontiguousarray(values, np.uint8) for values in np.mgrid[:256, :256])
    share = torch.tensor(factor, dtype=torch.float64).float()
    expected = blend(torch.from_numpy(low), torch.from_numpy(high), share).numpy()
    for offset in _ROUNDINGS:
        if np.array_equal(cv2.addWeighted(low, 1 - factor, high, factor, offset), expected):
            return offset
    return None
