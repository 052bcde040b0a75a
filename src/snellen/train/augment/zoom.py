"""Random resized crops: a box of random area and aspect, drawn as torchvision's RandomResizedCrop draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch
from snellen.train.augment.shift import UNLABELLED

if TYPE_CHECKING:
    from torch import Tensor

ATTEMPTS = 10  # boxes drawn before a central crop is taken


def random_resized_crop(
    images: Tensor,
    size: tuple[int, int],
    generator: torch.Generator,
    scale: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
) -> Tensor:
    """A random box of each image, resized to `size` (height, width): see Zoom.

    >>> from snellen.train.augment import random_resized_crop
    >>> import torch
    >>> images = torch.rand(2, 3, 8, 8)
    >>> generator = torch.Generator().manual_seed(0)
    >>> random_resized_crop(images, (4, 4), generator).shape
    torch.Size([2, 3, 4, 4])
    """
    return RandomZoom.draw(images.shape, size, generator, scale, ratio).images(images)


@dataclass(frozen=True, eq=False)
class RandomZoom:
    """One box per image, int64 [B, 4] as top, left, height, width in pixels, and the (height, width) it becomes."""

    boxes: Tensor
    size: tuple[int, int]

    @classmethod
    def draw(
        cls,
        shape: tuple[int, ...],
        size: tuple[int, int],
        draws: torch.Generator,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
    ) -> RandomZoom:
        """Boxes for a batch of `shape` [B, C, H, W]: area uniform in `scale`, log aspect uniform in log `ratio`.

        Of ten drawn boxes the first that fits is taken, at a uniform place; where none fits, the largest central one of
        an allowed aspect.
        """
        if not (0 < scale[0] <= scale[1] and 0 < ratio[0] <= ratio[1]):
            raise ValueError(f"expected scale and ratio as (low, high) above 0, got {scale} and {ratio}")
        count, height, width = shape[0], shape[-2], shape[-1]
        uniform = torch.rand(2 * ATTEMPTS + 2, count, generator=draws, dtype=torch.float64)
        area = height * width * (scale[0] + (scale[1] - scale[0]) * uniform[:ATTEMPTS])
        low, high = math.log(ratio[0]), math.log(ratio[1])
        aspect = torch.exp(low + (high - low) * uniform[ATTEMPTS:-2])
        tall, wide = (area / aspect).sqrt().round(), (area * aspect).sqrt().round()
        fits = (tall > 0) & (tall <= height) & (wide > 0) & (wide <= width)
        first = fits.int().argmax(0, keepdim=True)  # 0 where none fits
        central = _central(height, width, ratio)
        any_fits = fits.any(0)
        tall = torch.where(any_fits, tall.gather(0, first)[0], central[0])
        wide = torch.where(any_fits, wide.gather(0, first)[0], central[1])
        top = torch.where(any_fits, (uniform[-2] * (height - tall + 1)).floor(), (height - central[0]) // 2)
        left = torch.where(any_fits, (uniform[-1] * (width - wide + 1)).floor(), (width - central[1]) // 2)
        return cls(torch.stack([top, left, tall, wide], 1).long(), size)

    def images(self, images: Tensor) -> Tensor:
        """The boxes, bilinear with antialiasing; only pixels inside a box count: uint8 [B, C, *size].

        On a CPU torch's own uint8 resize is called box by box (13 × faster at 224 px); elsewhere the whole batch is two
        matrix products. The two agree within one grey level.
        """
        if images.device.type != "cpu":
            return self._products(images)
        resized = images.new_empty(*images.shape[:2], *self.size)
        for row, (top, left, tall, wide) in enumerate(self.boxes.tolist()):
            box = images[row : row + 1, :, top : top + tall, left : left + wide]
            resized[row] = torch.nn.functional.interpolate(box, self.size, mode="bilinear", antialias=True)[0]
        return resized

    def maps(self, maps: Tensor, ignore: int = UNLABELLED) -> Tensor:
        """Label maps [B, H, W] moved along: each pixel takes the label under its centre; nothing is ignored."""
        top, left, tall, wide = self.boxes.to(maps.device, non_blocking=True).T[:, :, None]
        rows, columns = top + _centres(tall, self.size[0]), left + _centres(wide, self.size[1])
        return maps[torch.arange(len(maps), device=maps.device)[:, None, None], rows[:, :, None], columns[:, None]]

    def _products(self, images: Tensor) -> Tensor:
        top, left, tall, wide = self.boxes.to(images.device, non_blocking=True).T
        down = _weights(top, tall, images.shape[2], self.size[0])
        across = _weights(left, wide, images.shape[3], self.size[1])
        with torch.autocast(images.device.type, enabled=False):
            resized = down[:, None] @ images.float() @ across[:, None].transpose(2, 3)
        return resized.round_().clamp_(0, 255).to(torch.uint8)


def _central(height: int, width: int, ratio: tuple[float, float]) -> tuple[int, int]:
    """Height and width of the largest box whose aspect (width by height) is allowed."""
    if width / height < ratio[0]:
        return round(width / ratio[0]), width
    if width / height > ratio[1]:
        return height, round(height * ratio[1])
    return height, width


def _centres(length: Tensor, size: int) -> Tensor:
    """The pixel of a box of some length under the centre of each of `size` new pixels: int64 [B, size]."""
    step = torch.arange(size, device=length.device)
    return (2 * step + 1) * length // (2 * size)


def _weights(start: Tensor, length: Tensor, side: int, size: int) -> Tensor:
    """How much each of `side` pixels counts in each of `size` new ones: a triangle as wide as the shrinking, [B, size, side]."""
    scale = (length / size)[:, None, None]
    pixel = torch.arange(side, device=start.device)
    centre = start[:, None, None] + (torch.arange(size, device=start.device)[:, None] + 0.5) * scale
    weight = (1 - (pixel + 0.5 - centre).abs() / scale.clamp(min=1)).clamp_(min=0)
    inside = (pixel >= start[:, None]) & (pixel < (start + length)[:, None])
    weight = weight * inside[:, None]
    return weight / weight.sum(2, keepdim=True)
