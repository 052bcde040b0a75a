"""Blurs of a lens, of glass and of motion. Sums of whole numbers below 2^24, so no order of summation changes a pixel."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.blur import blurred
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_WHOLE = 1 << 16  # the sum of the weights of a pixel
_DISC = 1 << 15  # that of a disc, to which its softened edge may add a little


def gaussian_blur(images: Tensor, view: View, sigma: float) -> Tensor:
    """A Gaussian of `sigma` pixels; those of the border are repeated."""
    return blurred(images, sigma, up=False)


def defocus_blur(images: Tensor, view: View, settings: tuple[int, float]) -> Tensor:
    """A disc of some radius, its edge softened by a Gaussian; beyond the border lies the image mirrored at its last pixel."""
    weights = torch.from_numpy(disc(*settings))
    reach = len(weights) // 2
    # A GPU may round float32 products to fewer bits; its float64 ones are exact.
    kind = torch.float32 if images.device.type == "cpu" else torch.float64
    rows, columns = (_around(side, reach, images.device) for side in images.shape[2:])
    pixels = images.to(kind).index_select(2, rows).index_select(3, columns).flatten(0, 1)
    every = weights.to(images.device, kind).expand(len(pixels), 1, *weights.shape)
    sums = torch.nn.functional.conv2d(pixels[None], every, groups=len(pixels))  # far faster than images of one channel
    return _shifted_down(sums, _DISC).view_as(images)


def motion_blur(images: Tensor, view: View, settings: tuple[int, float]) -> Tensor:
    """Streaks at an angle of −45 to 45 degrees; pixels of the border are repeated."""
    angles = 90 * view.draw.uniform("angle") - 45
    rows = [streaked(image.float(), *settings, angle) for image, angle in zip(images, angles.tolist())]
    return _shifted_down(torch.stack(rows)) if rows else images


def glass_blur(images: Tensor, view: View, settings: tuple[float, int, int]) -> Tensor:
    """Neighbouring pixels swapped at random between two Gaussian blurs."""
    sigma, reach, rounds = settings
    height, width = images.shape[2:]
    places = shuffled_places(height, width, reach, [_swaps(view, at, height, width, reach) for at in range(rounds)])
    softened = blurred(images, sigma, up=False).flatten(2)
    shuffled = softened.gather(2, view.tensor(places.astype(np.int64))[:, None].expand(-1, images.shape[1], -1))
    return blurred(shuffled.view_as(images), sigma, up=False)


@functools.lru_cache(maxsize=16)
def disc(radius: float, sigma: float) -> np.ndarray:
    """float64 [k, k]: the weights of a disc whose edge is softened, in whole numbers.

    Those of the disc add up to 2^15. Softening mirrors at the border of the published raster, which adds to the widest disc.
    """
    reach = 8 if radius <= 8 else int(radius)
    soft = 1 if radius <= 8 else 2
    down, across = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    inside = (down**2 + across**2 <= radius**2).astype(float)
    inside *= _DISC / inside.sum()
    bell = np.exp(-0.5 * (np.arange(-soft, soft + 1) / sigma) ** 2)
    bell /= bell.sum()
    for _ in range(2):
        edged = np.pad(inside, ((soft, soft), (0, 0)), mode="reflect")
        inside = sum(share * edged[at : at + len(inside)] for at, share in enumerate(bell)).T
    whole = np.rint(inside)
    whole[reach, reach] += np.rint(inside.sum()) - whole.sum()
    used = np.flatnonzero(whole.any(0))
    return whole[used[0] : used[-1] + 1, used[0] : used[-1] + 1]


def streaked(pixels: Tensor, radius: int, sigma: float, angle: float) -> Tensor:
    """float [C, H, W], times 2^16: a Gaussian to one side, along an angle in degrees, over 2 · radius + 1 pixels."""
    steps = np.arange(2 * radius + 1)
    weights = _whole(np.exp(-0.5 * (steps / sigma) ** 2))
    turn = math.radians(angle)
    down = -np.ceil(steps * math.sin(turn) - 0.5).astype(int)
    across = -np.ceil(steps * math.cos(turn) - 0.5).astype(int)
    weighed: dict[tuple[int, int], float] = {}
    for shift, weight in zip(zip(down.tolist(), across.tolist()), weights.tolist()):
        if weight:
            weighed[shift] = weighed.get(shift, 0) + weight
    reach = max(max(abs(y), abs(x)) for y, x in weighed)
    height, width = pixels.shape[1:]
    edged = torch.nn.functional.pad(pixels[None], (reach,) * 4, mode="replicate")[0]
    out = torch.zeros_like(pixels)
    for (y, x), weight in weighed.items():
        out.add_(edged[:, reach - y : reach - y + height, reach - x : reach - x + width], alpha=weight)
    return out


def shuffled_places(height: int, width: int, reach: int, swaps: list[np.ndarray]) -> np.ndarray:
    """int32 [B, H · W]: which pixel stands where after rounds of swaps; each names by how much further its partner lies.

    As published, pixels swap one after the other from the lower right on. Those swaps that lie so far apart that they share
    no pixel are made at once, for all images: the result is the same.
    """
    count = len(swaps[0])
    order, ends = _far_apart(height, width, reach)
    places = np.tile(np.arange(height * width, dtype=np.int32)[:, None], count)  # a pixel of all images is a row
    flat, images = places.reshape(-1), np.arange(count)
    for further in swaps:
        here = order[:, None] * count + images
        there = here + further.T[order] * count
        first = 0
        for end in ends:
            these, those = here[first:end].ravel(), there[first:end].ravel()
            flat[these], flat[those] = flat[those], flat[these]
            first = end
    return np.ascontiguousarray(places.T)


@functools.lru_cache(maxsize=8)
def _far_apart(height: int, width: int, reach: int) -> tuple[np.ndarray, list[int]]:
    """The pixels that swap, and where their groups end, in an order that keeps every pair of swaps that share a pixel in theirs.

    A swap stays within `reach` of its pixel: those of one group stand 2 · reach columns apart for every row between them.
    """
    sides = (np.arange(side - reach, reach, -1) for side in (height, width))
    down, across = np.meshgrid(*sides, indexing="ij")
    turn = (width - across + 2 * reach * (height - down)).ravel()
    order = np.argsort(turn, kind="stable")
    ends = np.flatnonzero(np.diff(turn[order], append=-1)) + 1
    return (down * width + across).ravel()[order], ends.tolist()


def _swaps(view: View, turn: int, height: int, width: int, reach: int) -> np.ndarray:
    """int64 [B, H · W]: how far behind each pixel its partner lies, from −reach to reach − 1 rows and columns."""
    draws = view.draw.bytes(f"swaps {turn}", (height * width, 2)).cpu().numpy().astype(np.int64)
    steps = (draws * (2 * reach) >> 8) - reach
    return steps[..., 0] * width + steps[..., 1]


def _whole(weights: np.ndarray) -> np.ndarray:
    """Weights as whole numbers that add up to 2^16."""
    whole = np.rint(weights / weights.sum() * _WHOLE)
    whole.flat[whole.argmax()] += _WHOLE - whole.sum()
    return whole


def _around(side: int, reach: int, device: torch.device) -> Tensor:
    """int64 [side + 2 · reach]: which pixel lies at each place, beyond the border too, where it is mirrored at the last one."""
    period = max(2 * (side - 1), 1)
    place = torch.arange(-reach, side + reach, device=device).remainder(period)
    return torch.minimum(place, period - place) if side > 1 else torch.zeros_like(place)


def _shifted_down(sums: Tensor, scale: int = _WHOLE) -> Tensor:
    """uint8 of sums of values times `scale`, rounded down."""
    return sums.mul(1 / scale).floor_().clamp_(0, 255).to(torch.uint8)
