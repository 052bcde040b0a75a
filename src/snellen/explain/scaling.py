"""Maps as all methods give them: of the image's size, in 0…1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def unit_maps(values: Tensor) -> Tensor:
    """Maps [B, h, w] without what is negative, each divided by its own maximum; 0 where that is 0 or not finite."""
    values = values.clamp(min=0)
    top = values.amax((1, 2), keepdim=True)
    return torch.where((top > 0) & top.isfinite(), values / top, torch.zeros_like(values))


def finite(values: Tensor) -> Tensor:
    """The values, with 0 for nan and what is infinite."""
    return torch.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def enlarge(coarse: Tensor, size: Sequence[int]) -> Tensor:
    """Maps [B, h, w] enlarged bilinearly to [B, H, W].

    The batch lies where channels lie, last in memory: torch's kernel for one channel walks through the batch in a loop.
    """
    channels = coarse.permute(1, 2, 0)[None].contiguous().permute(0, 3, 1, 2)
    return torch.nn.functional.interpolate(channels, tuple(size), mode="bilinear")[0].contiguous()
