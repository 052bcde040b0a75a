"""From pixels to what a network sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Normalise:
    """Images of 0…255 to channels in 0…1, less their mean, by their standard deviation; float32, channels last."""

    mean: list[float]
    std: list[float]

    def on(self, device: torch.device) -> Normalised:
        """The same with its numbers already on a device: a batch then waits for no copy."""
        return Normalised(*(torch.tensor(v, device=device).view(1, 3, 1, 1) * 255 for v in (self.mean, self.std)))

    def __call__(self, images: Tensor) -> Tensor:
        return self.on(images.device)(images)


@dataclass(frozen=True)
class Normalised:
    """Normalise with its mean and deviation (0…255) as tensors [1, 3, 1, 1]."""

    mean: Tensor
    std: Tensor

    def __call__(self, images: Tensor) -> Tensor:
        return (images.to(torch.float32, memory_format=torch.channels_last) - self.mean) / self.std
