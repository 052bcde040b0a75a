"""Projected gradient ascent, in the simplest form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.lazy import torch
from snellen.text import build, read

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Pgd:
    """`radius` and `step` are shares of the pixel range."""

    norm: str = "linf"
    radius: float = 8 / 255
    step: float = 2 / 255
    steps: int = 7

    def __call__(self, images: Tensor, loss: Callable[[Tensor], Tensor], draws: torch.Generator) -> Tensor:
        """Images float32 0…255 moved within the radius so that `loss(images)` grows."""
        start = images.float()
        shown = start.clone()
        for _ in range(self.steps):
            shown.requires_grad_(True)
            (slope,) = torch.autograd.grad(loss(shown), shown)
            moved = (shown.detach() - start + 255 * self.step * slope.sign()).clamp(
                -255 * self.radius, 255 * self.radius
            )
            shown = (start + moved).clamp(0, 255)
        return shown


def parse_pgd(text: str) -> Any:
    """The attack a text names."""
    return build(read(text), {"pgd": Pgd}, "attack")
