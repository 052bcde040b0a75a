"""Noises: Gaussian, shot, impulse and speckle, in whole numbers, rounded down as published."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.draws import NORMAL_BITS
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_BITS = 14  # of a draw: the table of counts stays in the cache
_WORDS = 1 << _BITS


def gaussian_noise(images: Tensor, view: View, sigma: float) -> Tensor:
    """Normal noise is added to every value."""
    draws = view.draw.normal("noise", tuple(images.shape[1:]))
    return _clipped(draws.mul_(round(sigma * 255 * 256)).bitwise_right_shift_(NORMAL_BITS + 8).add_(images))


def speckle_noise(images: Tensor, view: View, sigma: float) -> Tensor:
    """Normal noise, times the value, is added."""
    draws = view.draw.normal("noise", tuple(images.shape[1:]))
    noise = draws.mul_(round(sigma * 256)).mul_(images).bitwise_right_shift_(NORMAL_BITS + 8)
    return _clipped(noise.add_(images))


def shot_noise(images: Tensor, view: View, photons: int) -> Tensor:
    """Every value counts photons, of which white has so many on average."""
    places = _words(images, view).add_(images.to(torch.int32) * _WORDS)
    return _counted(photons).to(images.device).index_select(0, places.flatten()).view_as(images)


def impulse_noise(images: Tensor, view: View, share: float) -> Tensor:
    """A share of the values is black or white, by a coin."""
    draws, edge = _words(images, view), round(share * _WORDS)
    return images.masked_fill(draws < edge, 0).masked_fill_(draws < edge // 2, 255)


def _words(images: Tensor, view: View) -> Tensor:
    """int32 of the images' shape, uniform in 0 … 2^14 − 1."""
    draws = view.draw.bytes("noise", (*images.shape[1:], 2)).view(torch.int16)[..., 0]
    return draws.to(torch.int32).bitwise_and_(_WORDS - 1)


@functools.lru_cache(maxsize=5)
def _counted(photons: int) -> Tensor:
    """uint8 [256 · 2^14]: what is counted at each value for each draw, as a value again."""
    from scipy.special import pdtr

    counts = np.arange(photons + 12 * int(photons**0.5) + 12)
    seen = np.floor(np.minimum(counts / photons, 1) * 255).astype(np.uint8)
    table = np.empty((256, _WORDS), np.uint8)
    for value in range(256):
        ends = np.rint(pdtr(counts, value / 255 * photons) * _WORDS).astype(int)
        ends[-1] = _WORDS
        table[value] = np.repeat(seen, np.diff(ends, prepend=0))
    return torch.from_numpy(table.reshape(-1))


def _clipped(values: Tensor) -> Tensor:
    return values.clamp_(0, 255).to(torch.uint8)
