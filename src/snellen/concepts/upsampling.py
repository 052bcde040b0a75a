"""Upsampling: the features of a layer brought to the grid on which concepts are known."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def enlarge(features: Tensor, height: int, width: int) -> Tensor:
    """Features [n, units, h, w] brought bilinearly to [n, units, height, width]; beyond the outermost centres they fade to 0.

    That is torch's `grid_sample` with zeros around it, as Bau et al. 2020 do it. It is made as two matrix products, since
    both axes are sampled alike for all units.
    """
    rows = _weights(features.shape[2], height, features.device)
    columns = _weights(features.shape[3], width, features.device)
    return rows @ (features @ columns.T)


@functools.cache
def _weights(length: int, size: int, device: torch.device) -> Tensor:
    """float [size, length]: what each of `length` values gives to each of `size` places."""
    centre = (torch.arange(size, dtype=torch.float64) + 0.5) * length / size - 0.5
    distance = (centre[:, None] - torch.arange(length, dtype=torch.float64)[None, :]).abs()
    return (1 - distance).clamp(min=0).to(torch.float32).to(device)


def at_centres(maps: Tensor, height: int, width: int) -> Tensor:
    """Maps [..., H, W] sampled to [..., height, width]: what stands at the centre of each cell."""
    rows = _centres(maps.shape[-2], height, maps.device)
    columns = _centres(maps.shape[-1], width, maps.device)
    return maps[..., rows, :][..., columns]


@functools.cache
def _centres(length: int, size: int, device: torch.device) -> Tensor:
    return ((torch.arange(size) * 2 + 1) * length // (2 * size)).to(device)
