"""Colour jitter: brightness, contrast, saturation and hue of each image by a factor of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch
from snellen.train.augment.shift import UNLABELLED

if TYPE_CHECKING:
    from torch import Tensor

LUMA = (0.2989, 0.587, 0.114)  # how bright red, green and blue look
VALUES_AT_ONCE = 1 << 19  # values changed at once on a CPU: larger temporaries leave its cache (1.3 to 1.6 × slower)


def colour_jitter(
    images: Tensor,
    generator: torch.Generator,
    brightness: float = 0.0,
    contrast: float = 0.0,
    saturation: float = 0.0,
    hue: float = 0.0,
) -> Tensor:
    """Each image in other colours: see Jitter.draw for the strengths.

    >>> from snellen.train.augment import colour_jitter
    >>> import torch
    >>> images = torch.rand(2, 3, 8, 8)
    >>> generator = torch.Generator().manual_seed(0)
    >>> colour_jitter(images, generator, brightness=0.4).shape
    torch.Size([2, 3, 8, 8])
    >>> torch.equal(colour_jitter(images, generator), images)  # by nothing
    True
    """
    return Jitter.draw(len(images), generator, brightness, contrast, saturation, hue).images(images)


@dataclass(frozen=True, eq=False)
class Jitter:
    """What is changed, in this order, and each image's factors float32 [changes, B].

    A factor of 1 leaves brightness, contrast and saturation as they are, 0 gives black, the mean grey and a grey image;
    hue turns by the factor's share of the colour circle. In between values are clipped to 0…255 but not rounded, as
    torchvision does it on float images.
    """

    order: tuple[str, ...]
    factors: Tensor

    @classmethod
    def draw(
        cls,
        count: int,
        draws: torch.Generator,
        brightness: float = 0.0,
        contrast: float = 0.0,
        saturation: float = 0.0,
        hue: float = 0.0,
    ) -> Jitter:
        """Factors uniform in [max(0, 1 − strength), 1 + strength], hue in [−hue, hue]; one order for the whole batch."""
        strengths = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
        if min(strengths.values()) < 0 or hue > 0.5:
            raise ValueError(f"expected strengths of at least 0 and hue up to 0.5, got {strengths}")
        uniform = torch.rand(4, count, generator=draws)
        turns = torch.randperm(4, generator=draws).tolist()
        names = [name for name in (list(strengths)[turn] for turn in turns) if strengths[name] > 0]
        factors = [_between(uniform[list(strengths).index(name)], name, strengths[name]) for name in names]
        return cls(tuple(names), torch.stack(factors) if factors else uniform[:0])

    def images(self, images: Tensor) -> Tensor:
        """The batch [B, 3, H, W] in other colours, rounded to uint8."""
        if not self.order:
            return images
        factors = self.factors.to(images.device, non_blocking=True)[:, :, None, None, None]
        if images.device.type != "cpu":
            return self._changed(images, factors)
        size = max(1, VALUES_AT_ONCE // images.shape[1:].numel())
        parts = zip(images.split(size), factors.split(size, dim=1))
        return torch.cat([self._changed(part, factor) for part, factor in parts])

    def _changed(self, images: Tensor, factors: Tensor) -> Tensor:
        pixels = images.to(torch.float32, copy=True)
        for name, factor in zip(self.order, factors):
            pixels = CHANGES[name](pixels, factor)
        return pixels.round_().to(torch.uint8)

    def maps(self, maps: Tensor, ignore: int = UNLABELLED) -> Tensor:
        """Labels do not depend on colour."""
        return maps


def _between(uniform: Tensor, name: str, strength: float) -> Tensor:
    low, high = (-strength, strength) if name == "hue" else (max(0.0, 1 - strength), 1 + strength)
    return low + (high - low) * uniform


def _brightness(pixels: Tensor, factor: Tensor) -> Tensor:
    return pixels.mul_(factor).clamp_(0, 255)


def _contrast(pixels: Tensor, factor: Tensor) -> Tensor:
    grey = _grey(pixels.mean((2, 3), keepdim=True))
    return pixels.mul_(factor).add_((1 - factor) * grey).clamp_(0, 255)


def _saturation(pixels: Tensor, factor: Tensor) -> Tensor:
    grey = _grey(pixels)
    return pixels.mul_(factor).add_(grey.mul_(1 - factor)).clamp_(0, 255)


def _hue(pixels: Tensor, turn: Tensor) -> Tensor:
    """The colour circle turned; a channel falls from the largest value as it lies further from the hue (HSV hexcone)."""
    red, green, blue = pixels.unbind(1)
    low, value = torch.aminmax(pixels, dim=1)
    chroma = value - low
    divisor = torch.where(chroma > 0, chroma, 1)
    hue = torch.where(
        value == red,
        (green - blue) / divisor,
        torch.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    hue = hue + 6 * turn[:, 0]
    for channel, place in enumerate((5, 3, 1)):
        away = (hue + place).remainder_(6)
        pixels[:, channel] = value - chroma * torch.minimum(away, 4 - away).clamp_(0, 1)
    return pixels.clamp_(0, 255)


def _grey(pixels: Tensor) -> Tensor:
    red, green, blue = pixels.split(1, dim=1)
    return (LUMA[0] * red).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])


CHANGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "brightness": _brightness,
    "contrast": _contrast,
    "saturation": _saturation,
    "hue": _hue,
}
