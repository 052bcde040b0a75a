"""From pixels to what a network sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

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

    def units(self, other: Normalise, device: torch.device) -> Units:
        """What brings images of other data to where this normalises them as `other`, their own, would have."""
        mean, std = (torch.tensor(v, dtype=torch.float64).view(1, 3, 1, 1) for v in (self.mean, self.std))
        mean_there, std_there = (torch.tensor(v, dtype=torch.float64).view(1, 3, 1, 1) for v in (other.mean, other.std))
        scale = std / std_there
        return Units(scale.float().to(device), (255 * (mean - mean_there * scale)).float().to(device))


@dataclass(frozen=True)
class Units:
    """Images of 0…255 in other units, float32: they may leave 0…255. Both are tensors [1, 3, 1, 1]."""

    scale: Tensor
    shift: Tensor

    def __call__(self, images: Tensor) -> Tensor:
        return torch.addcmul(self.shift, images.float(), self.scale)


@dataclass(frozen=True)
class Normalised:
    """Normalise with its mean and deviation (0…255) as tensors [1, 3, 1, 1]."""

    mean: Tensor
    std: Tensor

    def __call__(self, images: Tensor) -> Tensor:
        return (images.to(torch.float32, memory_format=torch.channels_last) - self.mean) / self.std
