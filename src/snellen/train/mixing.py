"""Mixing: batch transforms that show two images in one, for any PyTorch loop.

    images, targets = cutmix(images, labels, generator)
    loss = mixed_loss(network(images), targets)

A mix is a function (images, labels, generator, alpha) → (images, (labels, partner labels, weight)): each image keeps
the share `weight` of itself and takes the rest from its partner in the batch. Draws are made on the CPU whatever the
images' device, so that they are the same on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from snellen.lazy import torch
from snellen.text import build, read

if TYPE_CHECKING:
    from torch import Tensor


class Targets(NamedTuple):
    """Labels of each image and of its partner, and the share of the first, float32 [B]."""

    own: Tensor
    partner: Tensor
    weight: Any


Mix: TypeAlias = "Callable[[Tensor, Tensor, torch.Generator, float], tuple[Tensor, Any]]"


def unmixed(images: Tensor, labels: Tensor, generator: torch.Generator, alpha: float = 1.0) -> tuple[Tensor, Any]:
    """The images as they are, with weight 1."""
    return images, (labels, labels, 1.0)


def cutmix(images: Tensor, labels: Tensor, generator: torch.Generator, alpha: float = 1.0) -> tuple[Tensor, Any]:
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


def mixed_loss(logits: Tensor, targets: Any, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
    """Mean cross-entropy against both labels, λ · CE(own) + (1 − λ) · CE(partner), over what is not ignored."""
    own, partner, weight = targets
    share = torch.as_tensor(weight, device=logits.device).expand(len(own)).view(-1, *[1] * (own.ndim - 1))

    def losses(labels: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(
            logits, labels, ignore_index=ignore, label_smoothing=smoothing, reduction="none"
        )

    count = (own != ignore).sum().clamp(min=1)
    return (share * losses(own) + (1 - share) * losses(partner)).sum() / count


def majority_loss(logits: Tensor, targets: Any) -> Tensor:
    """Mean cross-entropy against the label of the larger share."""
    own, partner, weight = targets
    share = torch.as_tensor(weight, device=logits.device).expand(len(own)).view(-1, *[1] * (own.ndim - 1))
    return torch.nn.functional.cross_entropy(logits, torch.where(share >= 0.5, own, partner))


def fitted(images: Tensor, size: tuple[int, int]) -> Tensor:
    """Images of another size brought to one: padded with black where they are smaller, else resized."""
    height, width = size
    down, across = height - images.shape[2], width - images.shape[3]
    if min(down, across) >= 0:
        top, left = down // 2, across // 2
        return torch.nn.functional.pad(images, (left, across - left, top, down - top))
    resized = torch.nn.functional.interpolate(images.float(), size, mode="bilinear", antialias=True)
    return resized.round().clamp(0, 255).to(torch.uint8)


@dataclass(frozen=True)
class _Temporary:
    alpha: float = 1.0

    def __call__(
        self,
        images: Tensor,
        labels: Tensor,
        draws: torch.Generator,
        partners: Tensor | None = None,
        reformulated: bool = False,
        mean: Sequence[float] = (0, 0, 0),
        step: int = 0,
    ) -> tuple[Tensor, Targets]:
        name = type(self).__name__.lower()
        if name == "unmixed":
            return images, Targets(labels, labels, torch.ones(len(images), device=images.device))
        weight = _beta(self.alpha, draws)
        order = torch.randperm(len(images), generator=draws).to(images.device)
        other = images[order] if partners is None else partners
        if name == "mixup":
            mixed = weight * images.float() + (1 - weight) * other.float()
        else:
            down = _inside(images.shape[2], weight, len(images), draws).to(images.device)
            across = _inside(images.shape[3], weight, len(images), draws).to(images.device)
            mixed = torch.where(down[:, None, :, None] & across[:, None, None, :], other, images)
        share = 1.0 if reformulated else weight
        second = labels if reformulated else labels[order]
        return mixed, Targets(labels, second, torch.full((len(images),), share, device=images.device))


class Unmixed(_Temporary):
    pass


class Cutmix(_Temporary):
    pass


class Mixup(_Temporary):
    pass


def parse_mix(text: str) -> Any:
    """The mix a text names."""
    return build(read(text), {"none": Unmixed, "cutmix": Cutmix, "mixup": Mixup}, "mix")


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
