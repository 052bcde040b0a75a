"""A Gaussian blur in whole numbers, the same on every device, and the distortion `blur`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.distortion import Distortion
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.raster import mirrored
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_BITS = 12  # of the weights, and of a pixel between the two directions: their products are exact in float32
_BLOCK = 56  # pixels made at once from the stretch that reaches them: half the work of whole rows at 224 px
_IMAGES = 4  # at once on a CPU: what stays in its cache is twice as fast

_STEPS = 32  # of a pixel, to which a drawn sigma is rounded: images of the same one are blurred together

BlurBorder = Literal["repeat", "mirror"]


@dataclass(frozen=True)
class Blur(Distortion):
    """Blur by a Gaussian of `sigma` pixels (0 to 64), cut at 4 sigma, or by a law of it per image, rounded to 1/32 pixel.

    Beyond the border lies the image mirrored at it.
    """

    sigma: float | Law = 1.0
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"sigma": 0}

    def __post_init__(self) -> None:
        expect_within("sigma", self.sigma, 0, 64)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        if isinstance(self.sigma, int | float):
            return blurred(images, float(self.sigma), "mirror")
        out = images.clone()
        steps = np.rint(view.parameter("sigma", self.sigma) * _STEPS).astype(int)
        for step in np.unique(steps):
            rows = view.tensor(np.flatnonzero(steps == step))
            out[rows] = blurred(images[rows], step / _STEPS, "mirror")
        return out

    def words(self) -> str:
        return f"blurred by σ {in_numbers(self.sigma) or 'drawn'} px"


def blurred(images: Tensor, sigma: float, border: BlurBorder = "repeat", *, up: bool = True) -> Tensor:
    """uint8 [B, C, H, W] blurred by a Gaussian of `sigma` pixels, cut at 4 sigma; pixels of the border are repeated or mirrored.

    Halves of a grey level are rounded `up`, or everything down.
    Products of matrices whose entries and sums are whole numbers below 2^24, so no order of summation changes a pixel.
    """
    if sigma == 0 or not len(images):
        return images
    many = _IMAGES if images.device.type == "cpu" else len(images)
    return torch.cat([_blurred(part, sigma, border, up) for part in images.split(many)])


def _blurred(images: Tensor, sigma: float, border: BlurBorder, up: bool) -> Tensor:
    # A GPU may round float32 products to fewer bits; its float64 ones are exact, and fast enough.
    kind = torch.float32 if images.device.type == "cpu" else torch.float64
    down, across = (_spread(side, sigma, border, images.device, kind) for side in images.shape[2:])
    pixels = images.to(kind)
    half = torch.cat([pixels[..., first:last] @ weights.T for first, last, weights in across], -1)
    half = half.add_(128).mul_(2**-8).floor_()  # 20 bits to 12: a 16th of a grey level
    whole = torch.cat([weights @ half[..., first:last, :] for first, last, weights in down], -2)
    return whole.add_(2**15 if up else 0).mul_(2**-16).to(torch.uint8)


@functools.lru_cache(maxsize=16)
def _spread(
    side: int, sigma: float, border: BlurBorder, device: torch.device, kind: torch.dtype
) -> list[tuple[int, int, Tensor]]:
    """For each block of blurred pixels: the first and last + 1 of those that reach it, and how much of each goes where.

    Weights [block, reaching] are whole numbers that add up to 2^12 for each blurred pixel.
    """
    reach = int(np.ceil(4 * sigma))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights = np.floor(bell / bell.sum() * 2**_BITS + 0.5)
    weights[reach] += 2**_BITS - weights.sum()
    spread = np.zeros((side, side))
    places = torch.arange(-reach, side + reach)
    inside = (mirrored(places, side) if border == "mirror" else places.clamp(0, side - 1)).numpy()
    for row in range(side):
        np.add.at(spread[row], inside[row : row + 2 * reach + 1], weights)
    blocks = []
    for start in range(0, side, _BLOCK):
        used = np.flatnonzero(spread[start : start + _BLOCK].any(0))
        first, last = int(used[0]), int(used[-1]) + 1
        part = np.ascontiguousarray(spread[start : start + _BLOCK, first:last])
        blocks.append((first, last, torch.from_numpy(part).to(kind).to(device)))
    return blocks
