"""Random fields: normal noise, and heights with detail of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.distort.draws import NORMAL_BITS
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def normal(view: View, name: str, height: int, width: int) -> Tensor:
    """float [B, H, W]: standard normal draws."""
    return view.draw.normal(name, (height, width)).float().mul_(2.0**-NORMAL_BITS)


def plasma(view: View, name: str, height: int, width: int, decay: float) -> Tensor:
    """float [B, H, W] from 0 to 1: random heights by diamonds and squares, on a square raster that the image is cut from.

    Steps of the raster are halved; with each the random part is divided by `decay`.
    """
    side = 1 << (max(height, width) - 1).bit_length()
    heights = torch.zeros((len(view.keys), side, side), device=view.draw.device)
    step, wibble = side, 100.0
    while step >= 2:
        half = step // 2

        def mean(sums: Tensor, part: str, size: float, number: int = side // step) -> Tensor:
            draws = view.draw.bytes(f"{name} {part} {number}", (number, number, 2)).view(torch.int16)[..., 0]
            return sums.div(4).add_((draws.float() + 0.5).mul_(size * size / 2**15))

        corners = heights[:, ::step, ::step]
        sums = corners + corners.roll(-1, 1)
        middles = mean(sums + sums.roll(-1, 2), "middle", wibble)
        heights[:, half::step, half::step] = middles
        across, down = corners + corners.roll(-1, 2), corners + corners.roll(-1, 1)
        heights[:, ::step, half::step] = mean(middles + middles.roll(1, 1) + across, "top", wibble)
        heights[:, half::step, ::step] = mean(middles + middles.roll(1, 2) + down, "left", wibble)
        step, wibble = half, wibble / decay
    lowest, highest = heights.flatten(1).aminmax(dim=1)
    spread = (highest - lowest).clamp(min=torch.finfo(torch.float32).tiny)
    heights.sub_(lowest[:, None, None]).div_(spread[:, None, None])
    return heights[:, :height, :width].contiguous()
