"""Fine-grained saliency with all its scales at once: few steps, for a GPU or few images.

Images lie last, [H, W, B]: a pixel of all of them is one piece of memory, which makes fetching it from elsewhere cheap.
For one image, as SaliencyMix has it, a GPU takes longer to start a step than to do it, so that their number is the cost:
some 60 operations, where one scale after the other has 190 at 32 px and 260 at 64 px.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

SURROUNDS = (12, 24, 48, 28, 56, 112)  # pixels from the centre to the edge of each neighbourhood


def neighbourhood_sizes(height: int, width: int) -> Counter[int]:
    """Reach of each neighbourhood → how often it counts; those larger than the image are all the same one."""
    return Counter(min(reach, max(height, width)) for reach in SURROUNDS)


def all_scales(images: Tensor) -> Tensor:
    """uint8 [H, W, B]: what `saliency.fine_grained` gives, for uint8 images [B, 3, H, W]."""
    count, _, height, width = images.shape
    grey = _smoothed(_grey(images))
    sums = torch.nn.functional.pad(grey, (0, 0, 1, 0, 1, 0)).cumsum(0, dtype=torch.int32).cumsum(1, dtype=torch.int32)
    sums, brightness = sums.float().view(-1, count), grey.float()
    scales = _scales(height, width, images.device)
    corners = [sums.index_select(0, at).view(-1, height, width, count) for at in scales.corners]
    # OpenCV adds corners in float32, where large sums lose their last bit: in its order, to lose the same.
    around = corners[0].add_(corners[1]).sub_(corners[2]).sub_(corners[3]).sub_(brightness).div_(scales.pixels)
    contrast = around.neg_().add_(brightness).to(torch.int16).mul_(scales.times)  # cut off towards zero
    signed = contrast.sum(0, dtype=torch.int16)
    unsigned = contrast.abs_().sum(0, dtype=torch.int16)
    # A sum of sizes and a sum of signed values give twice the sums of the positive and of the negative ones.
    both = torch.stack([unsigned + signed, unsigned - signed]).float()
    largest = both.amax((1, 2), keepdim=True).clamp_(min=1)
    brighter, darker = both.div_(largest).mul_(255).to(torch.int16)
    return (brighter + darker).to(torch.uint8)


def _grey(images: Tensor) -> Tensor:
    """int16 [H, W, B]: brightness in OpenCV's fixed point."""
    red, green, blue = images.to(torch.int32).unbind(1)
    grey = (red * 9798).add_(green, alpha=19235).add_(blue, alpha=3735).add_(1 << 14) >> 15
    return grey.permute(1, 2, 0).to(torch.int16, memory_format=torch.contiguous_format)


def _smoothed(grey: Tensor) -> Tensor:
    """Twice a 3 × 3 Gaussian of weights 1 2 1, rounded; mirrored at the edge, without repeating it."""
    height, width, count = grey.shape
    # A mirror image smoothed is the mirror image of what was smoothed, so that both margins can be added at once.
    wide = (
        grey.view(-1, count).index_select(0, _mirrored(height, width, grey.device)).view(height + 4, width + 4, count)
    )
    for _ in range(2):
        for _ in range(2):  # 1 2 1 is 1 1 twice
            wide = wide[1:] + wide[:-1]
            wide = wide[:, 1:] + wide[:, :-1]
        wide = wide.add_(8) >> 4
    return wide


class _Scales(NamedTuple):
    """Where the sums of all neighbourhoods are found, how many pixels they have, how often each counts.

    `corners` int64 [S · H · W] are rows of the sums over all above and to the left: bottom right, top left, bottom left,
    top right. `pixels` is float32 [S, H, W, 1], the centre not counted, `times` int16 [S, 1, 1, 1].
    """

    corners: tuple[Tensor, ...]
    pixels: Tensor
    times: Tensor


@functools.lru_cache(maxsize=8)
def _scales(height: int, width: int, device: torch.device) -> _Scales:
    sizes = neighbourhood_sizes(height, width)
    reach = np.array(list(sizes))[:, None]
    top, bottom = (edge[:, :, None] for edge in _window(height, reach))
    left, right = (edge[:, None, :] for edge in _window(width, reach))
    corners = ((bottom, right), (top, left), (bottom, left), (top, right))
    pixels = np.maximum((bottom - top) * (right - left) - 1, 1)
    return _Scales(
        tuple(torch.from_numpy((row * (width + 1) + column).ravel()).to(device) for row, column in corners),
        torch.from_numpy(pixels).float()[..., None].to(device),
        torch.tensor(list(sizes.values()), dtype=torch.int16).view(-1, 1, 1, 1).to(device),
    )


def _window(length: int, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int [S, length]: first and end of the places up to `reach` − 1 before and `reach` after each place."""
    at = np.arange(length)
    return np.maximum(at - reach + 1, 0), np.minimum(at + reach + 1, length)


@functools.lru_cache(maxsize=8)
def _mirrored(height: int, width: int, device: torch.device) -> Tensor:
    """int64 [(H + 4) · (W + 4)]: the pixel that stands at each place of an image with a mirrored margin of 2."""
    rows, columns = (np.abs((np.arange(-2, n + 2) + n - 1) % max(2 * n - 2, 1) - (n - 1)) for n in (height, width))
    return torch.from_numpy((rows[:, None] * width + columns).ravel()).to(device)
