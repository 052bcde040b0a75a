"""Small changes that keep the label: mirroring and shifting whole batches of uint8 images on their device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Augment:
    """Mirroring and shifting; images alone, or images and maps moved along."""

    flip: bool = True
    padding: int = 0
    resized: bool = False
    jitter: float = 0.0

    def __call__(self, images: Tensor, draws: torch.Generator, maps: Tensor | None = None) -> Any:
        together = images if maps is None else torch.cat([images.short(), maps[:, None]], 1)
        if self.flip:
            together = random_flip(together, draws)
        if self.padding:
            together = random_crop(together, self.padding, draws)
        return together if maps is None else (together[:, :3].byte(), together[:, 3])


def random_flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image mirrored left to right with a chance of one half."""
    coin = torch.randint(2, (len(images), 1, 1, 1), generator=generator).bool().to(images.device)
    return torch.where(coin, images.flip(3), images)


def random_crop(images: Tensor, padding: int, generator: torch.Generator) -> Tensor:
    """Each image moved by up to `padding` pixels each way, black where it moved away from: [B, 3, H, W] again."""
    count, _, height, width = images.shape
    top, left = torch.randint(2 * padding + 1, (2, count), generator=generator).to(images.device)
    padded = torch.nn.functional.pad(images, (padding,) * 4)
    windows = padded.unfold(2, height, 1).unfold(3, width, 1)  # a view [B, 3, tops, lefts, H, W]
    return windows[torch.arange(count, device=images.device), :, top, left]
