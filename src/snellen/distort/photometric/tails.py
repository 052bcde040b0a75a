"""The ends of a distribution without its outermost pixels, found without sorting or counting all of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def trimmed_ends(planes: Tensor, cut: int) -> tuple[Tensor, Tensor]:
    """The least and the greatest value along the last axis once `cut` pixels are taken away at either end.

    What is taken away at the lower end is gone before the upper one is cut, so both meet where little is left.
    """
    count = planes.shape[-1]
    if cut == 0:
        return planes.amin(-1), planes.amax(-1)
    if 2 * cut >= count:
        middle = min(cut, count - 1)
        least = planes.sort(-1).values[..., middle]
        return least, least
    return _outermost(planes, cut, largest=False), _outermost(planes, cut, largest=True)


def _outermost(planes: Tensor, cut: int, largest: bool) -> Tensor:
    """The value at place `cut` from one end.

    The `cut` + 1 outermost pixels lie in the `cut` + 1 stretches with the outermost best pixel, so only those are ranked.
    """
    wanted, count = cut + 1, planes.shape[-1]
    stretch = 2 ** round(math.log2(max(1.0, math.sqrt(count / wanted))))
    stretches = count // stretch
    if stretches <= 2 * wanted:
        return planes.topk(wanted, dim=-1, largest=largest).values[..., -1]
    whole = planes[..., : stretches * stretch].unflatten(-1, (stretches, stretch))
    best = whole.amax(-1) if largest else whole.amin(-1)
    chosen = best.topk(wanted, dim=-1, largest=largest, sorted=False).indices
    few = whole.gather(-2, chosen[..., None].expand(*chosen.shape, stretch)).flatten(-2)
    rest = planes[..., stretches * stretch :]
    if rest.shape[-1]:
        import torch

        few = torch.cat([few, rest], -1)
    return few.topk(wanted, dim=-1, largest=largest).values[..., -1]
