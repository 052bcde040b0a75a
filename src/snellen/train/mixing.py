"""Mixing: batch transforms that show two images in one, for any PyTorch loop.

    images, targets = cutmix(images, labels, generator)
    loss = mixed_loss(network(images), targets)

A mix is a function (images, labels, generator, alpha) → (images, (labels, partner labels, weight)): each image keeps
the share `weight` of itself and takes the rest from its partner in the batch. Draws are made on the CPU whatever the
images' device, so that they are the same on all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

Targets: TypeAlias = "tuple[Tensor, Tensor, float]"
Mix: TypeAlias = "Callable[[Tensor, Tensor, torch.Generator, float], tuple[Tensor, Targets]]"


def unmixed(images: Tensor, labels: Tensor, generator: torch.Generator, alpha: float = 1.0) -> tuple[Tensor, Targets]:
    """The images as they are, with weight 1."""
    return images, (labels, labels, 1.0)


def cutmix(images: Tensor, labels: Tensor, generator: torch.Generator, alpha: float = 1.0) -> tuple[Tensor, Targets]:
    """CutMix (Yun et al. 2019) as torchbearer has it: a box of each image is its partner's, at the same place.

    One weight λ ~ Beta(α, α) and one permutation of partners for the batch; the box, √(1 − λ) of each side rounded down
    to even pixels, has its own uniform centre in each image and is cut off at the border. The weight stays λ there
    too (nominal, not the share left visible). Images [B, C, H, W] of any type, labels [B].
    """
    count, _, height, width = images.shape
    weight = _beta(alpha, generator)
    partner = torch.randperm(count, generator=generator).to(images.device)
    down = _inside(height, weight, count, generator).to(images.device)
    across = _inside(width, weight, count, generator).to(images.device)
    box = down[:, None, :, None] & across[:, None, None, :]
    return torch.where(box, images[partner], images), (labels, labels[partner], weight)


def mixed_loss(logits: Tensor, targets: Targets) -> Tensor:
    """Mean cross-entropy against both labels: λ · CE(own) + (1 − λ) · CE(partner)."""
    own, partner, weight = targets
    cross_entropy = torch.nn.functional.cross_entropy
    if weight == 1.0:
        return cross_entropy(logits, own)
    return weight * cross_entropy(logits, own) + (1 - weight) * cross_entropy(logits, partner)


MIXES: dict[str, Mix] = {"none": unmixed, "cutmix": cutmix}


def _inside(length: int, weight: float, count: int, generator: torch.Generator) -> Tensor:
    """bool [count, length]: the pixels of one side that lie in each image's box."""
    half = round((1 - weight) ** 0.5 * length) // 2
    centre = torch.randint(length, (count, 1), generator=generator)
    pixel = torch.arange(length)
    return (pixel >= centre - half) & (pixel < centre + half)


def _beta(alpha: float, generator: torch.Generator) -> float:
    """One draw of Beta(α, α); torch's own takes no generator, so NumPy draws from a seed out of it."""
    if not alpha > 0:
        raise ValueError(f"expected alpha above 0, got {alpha}")
    seed = int(torch.randint(2**62, (), generator=generator))
    return float(np.random.default_rng(seed).beta(alpha, alpha))
