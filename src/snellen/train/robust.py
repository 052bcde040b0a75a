"""Training against an attack: the batch is moved to where the network fails before it is learnt from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

Attack: TypeAlias = "Callable[[Tensor, Callable[[Tensor], Tensor], torch.Generator], Tensor]"


def parse_robust(text: str) -> Attack | None:
    """The attack a text such as `pgd(norm=linf, radius=0.03, steps=7)` names; None for `none`.

    It maps images (0…255), the loss of such images and a generator to images float32 0…255.
    """
    if text == "none":
        return None
    from snellen.train.pgd import parse_pgd

    attack: Attack = parse_pgd(text)
    return attack
