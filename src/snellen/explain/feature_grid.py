"""Places: the grid of features that a layer gives, whether as a picture (channels first or last) or as a row of tokens.

And the way back: maps on such a grid as all methods give them, of the image's size, in 0…1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

MOST_EXTRA_TOKENS = 16  # class, distillation and register tokens in front of those that stand for places
PEAK = 1 - 2**-20  # of a map's maximum: 8 to 16 steps of single precision below it
SKEWEST = 2.0  # how far the aspect of a grid may be from that of the image


@dataclass(frozen=True)
class Places:
    """How a layer's output is laid out: `height` × `width` places, of which tokens have `extra` other ones in front."""

    layout: Literal["channels first", "channels last", "tokens"]
    height: int
    width: int
    extra: int = 0

    @property
    def count(self) -> int:
        return self.height * self.width

    def fits(self, output: Tensor) -> bool:
        """Whether an output is laid out so, as far as its shape tells; a layer may answer several times, in several shapes."""
        shape = tuple(output.shape)
        if self.layout == "tokens":
            return len(shape) == 3 and shape[1] == self.extra + self.count
        sides = shape[2:] if self.layout == "channels first" else shape[1:3]
        return len(shape) == 4 and sides == (self.height, self.width)

    def features(self, output: Tensor) -> Tensor:
        """[B, channels, height, width] of a layer's output; a view of it."""
        if self.layout == "tokens":
            output = output[:, self.extra :].unflatten(1, (self.height, self.width))
        return output if self.layout == "channels first" else output.movedim(-1, 1)

    def fill(self, output: Tensor, features: Tensor) -> Tensor:
        """A layer's output with these features [B, channels, height, width] at its places; its other tokens stay."""
        features = features.to(output.dtype)
        if self.layout == "channels first":
            return features
        last = features.movedim(1, -1)
        return last if self.layout == "channels last" else torch.cat([output[:, : self.extra], last.flatten(1, 2)], 1)


def tensor_in(output: Any) -> Tensor | None:
    """The tensor of a layer's output: itself, or the first of several."""
    first = output[0] if isinstance(output, tuple | list) and output else output
    return first if isinstance(first, torch.Tensor) else None


def places_of(shape: tuple[int, ...], image: tuple[int, int], grid: tuple[int, int] | None = None) -> Places | None:
    """The likeliest of `readings_of`; None where there is none."""
    return next(iter(readings_of(shape, image, grid)), None)


def readings_of(shape: tuple[int, ...], image: tuple[int, int], grid: tuple[int, int] | None = None) -> list[Places]:
    """The ways to read an output [B, …] of this shape as places on images of this height and width, the likeliest first.

    Of the two ways to read four dimensions, the one whose aspect is nearer to the image's comes first. Tokens need the `grid`
    of the patches they were made from; where patches were merged on the way, both sides of it have been halved. Where no
    layer gave a grid before, it is one of the image's aspect, with as few other tokens in front as can be.
    """
    if len(shape) == 4:
        first = Places("channels first", shape[2], shape[3])
        last = Places("channels last", shape[1], shape[2])
        ways = sorted((first, last), key=lambda places: round(_skew(places, image), 6))
        return [places for places in ways if _skew(places, image) <= math.log(SKEWEST) and places.count >= 1]
    if len(shape) != 3:
        return []
    if grid is None:
        return list(_grids_like(image, shape[1]))
    height, width = grid
    while height * width > 1:
        extra = shape[1] - height * width
        if extra >= 0:
            return [Places("tokens", height, width, extra)] if extra <= MOST_EXTRA_TOKENS else []
        height, width = -(-height // 2), -(-width // 2)
    return []


def _grids_like(image: tuple[int, int], tokens: int) -> Iterator[Places]:
    """The grid of the image's aspect that has nearly as many places as there are tokens."""
    for extra in range(min(MOST_EXTRA_TOKENS, tokens) + 1):
        height = round(math.sqrt((tokens - extra) * image[0] / image[1]))
        width = (tokens - extra) // max(height, 1)
        if height * width == tokens - extra > 1 and height * image[1] == width * image[0]:
            yield Places("tokens", height, width, extra)
            return


def _skew(places: Places, image: tuple[int, int]) -> float:
    """How far the aspect of the places is from that of the image: |log ratio|."""
    if not places.count or places.height > image[0] or places.width > image[1]:
        return math.inf
    return abs(math.log(places.height / places.width) - math.log(image[0] / image[1]))


def unit_maps(values: Tensor) -> Tensor:
    """Maps [B, h, w] without what is negative, each divided by its own maximum; 0 where that is 0 or not finite."""
    values = values.clamp(min=0)
    top = values.amax((1, 2), keepdim=True)
    return torch.where((top > 0) & top.isfinite(), values / top, torch.zeros_like(values))


def peaked_maps(values: Tensor) -> Tensor:
    """Enlarged maps [B, H, W] as by `unit_maps`, whose peak is 1 wherever it is reached but for rounding: pixels of the image's
    edge that are enlarged from one place are equal, which some kernels compute to a few units of the last digit."""
    shares = unit_maps(values)
    return torch.where(shares >= PEAK, 1.0, shares)


def as_words(maps: Tensor) -> Tensor:
    """uint16 of maps [B, H, W], each divided by its own maximum and cut off: the peak, and nothing below it, is 65,535. So it
    stays where it is, and no pixel beside it becomes its equal."""
    shares = finite(maps.float()).clamp_(min=0)  # a copy, so that the rest needs no other
    top = shares.amax((1, 2), keepdim=True)
    return shares.div_(top.where(top > 0, 1.0)).mul_(65535 / PEAK).to(torch.int32).to(torch.uint16)


def finite(values: Tensor) -> Tensor:
    """The values, with 0 for nan and what is infinite."""
    return torch.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def enlarge(coarse: Tensor, size: Sequence[int]) -> Tensor:
    """Maps [B, h, w] enlarged bilinearly to [B, H, W].

    The batch lies where channels lie, last in memory: torch's kernel for one channel walks through the batch in a loop.
    """
    channels = coarse.permute(1, 2, 0)[None].contiguous().permute(0, 3, 1, 2)
    return torch.nn.functional.interpolate(channels, tuple(size), mode="bilinear")[0].contiguous()
