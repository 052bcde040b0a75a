"""Fine-grained saliency (Montabone and Soto 2010), as OpenCV computes it, for whole batches on any device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_torch import torch
from snellen.train.mixing.scales import all_scales, neighbourhood_sizes

if TYPE_CHECKING:
    from torch import Tensor

PIXELS_AT_ONCE = {
    "cpu": 2**14,
    "cuda": 2**21,
}  # pixels of a batch up to which all scales at once are faster, or fit in memory


def fine_grained(images: Tensor) -> Tensor:
    """uint8 [B, H, W]: how much each pixel's brightness differs from its surroundings, at six scales.

    Images are uint8 RGB [B, 3, H, W]. The bytes of `cv2.saliency.StaticSaliencyFineGrained` (which divides them by
    255) for the same images in its channel order BGR, its wrapping past 255 included; images whose grey values sum to
    2²⁴ or more (256 × 257 white pixels) may differ, since OpenCV's sums then lose bits. A flat image is all zeros.

    >>> from snellen.train.mixing import fine_grained
    >>> import torch
    >>> images = torch.zeros(1, 3, 32, 32, dtype=torch.uint8)
    >>> images[:, :, 12:20, 12:20] = 255
    >>> fine_grained(images).shape
    torch.Size([1, 32, 32])
    """
    if images.numel() // 3 <= PIXELS_AT_ONCE.get(images.device.type, 0):
        return all_scales(images).permute(2, 0, 1).contiguous()
    return scale_by_scale(images)


def scale_by_scale(images: Tensor) -> Tensor:
    """The same with one scale in memory at a time, which for many images on a CPU is faster."""
    grey = _smooth(_smooth(_grey(images)))
    height, width = grey.shape[1:]
    sums = torch.nn.functional.pad(grey.cumsum(1, dtype=torch.int32).cumsum(2, dtype=torch.int32), (1, 0, 1, 0))
    brightness = grey.float()
    signed = torch.zeros_like(grey, dtype=torch.int16)
    unsigned = torch.zeros_like(signed)
    for reach, times in neighbourhood_sizes(height, width).items():
        around = _surround(sums, reach).sub_(brightness)
        pixels = _extent(height, reach, grey.device)[:, None] * _extent(width, reach, grey.device) - 1
        contrast = brightness.sub(around.div_(pixels.clamp(min=1))).to(torch.int16)  # cut off towards zero
        signed.add_(contrast, alpha=times)
        unsigned.add_(contrast.abs_(), alpha=times)
    # A sum of sizes and a sum of signed values give the sums of the positive and of the negative ones.
    brighter = _stretched((unsigned + signed) >> 1)
    darker = _stretched((unsigned - signed) >> 1)
    return (brighter + darker).to(torch.uint8)


def peaks(images: Tensor) -> Tensor:
    """int64 [2, B]: row and column of the first most salient pixel of each image; floats count as 0 to 255."""
    bytes_ = images if images.dtype == torch.uint8 else images.float().round().clamp(0, 255).to(torch.uint8)
    best = fine_grained(bytes_).flatten(1).argmax(1)
    width = images.shape[3]
    return torch.stack([best.div(width, rounding_mode="floor"), best % width])


def _grey(images: Tensor) -> Tensor:
    """int32 [B, H, W]: brightness in OpenCV's fixed point."""
    red, green, blue = images.to(torch.int32).unbind(1)
    return (red * 9798 + green * 19235 + blue * 3735 + (1 << 14)) >> 15


def _smooth(grey: Tensor) -> Tensor:
    """A 3 × 3 Gaussian of weights 1 2 1, mirrored at the edge (without repeating it), rounded to whole numbers."""
    return (_smooth_along(_smooth_along(grey, 1), 2) + 8) >> 4


def _smooth_along(grey: Tensor, axis: int) -> Tensor:
    length = grey.shape[axis]
    if length == 1:
        return 4 * grey
    out = 2 * grey
    out.narrow(axis, 1, length - 1).add_(grey.narrow(axis, 0, length - 1))
    out.narrow(axis, 0, length - 1).add_(grey.narrow(axis, 1, length - 1))
    out.narrow(axis, 0, 1).add_(grey.narrow(axis, 1, 1))
    out.narrow(axis, length - 1, 1).add_(grey.narrow(axis, length - 2, 1))
    return out


def _surround(sums: Tensor, reach: int) -> Tensor:
    """float32 [B, H, W]: the sum of brightness around each pixel, from sums over everything above and to the left."""
    height, width = sums.shape[1] - 1, sums.shape[2] - 1
    before, after = 1 - reach, 1 + reach
    if 2 * 255 * height * width < 2**24:
        rows = _shifted(sums, after, 1).sub_(_shifted(sums, before, 1))
        return _shifted(rows, after, 2).sub_(_shifted(rows, before, 2)).float()
    # OpenCV adds two corners in float32, where large sums lose their last bit: in its order, to lose the same.
    top, bottom = (_shifted(sums, by, 1).float() for by in (before, after))
    whole = _shifted(bottom, after, 2).add_(_shifted(top, before, 2))
    return whole.sub_(_shifted(bottom, before, 2)).sub_(_shifted(top, after, 2))


def _shifted(sums: Tensor, by: int, axis: int) -> Tensor:
    """Of n + 1 entries along an axis the n from 0 + by on; the first or the last entry where that is outside."""
    length = sums.shape[axis] - 1
    inside = max(min(length - by + 1, length) if by > 0 else length + by, 0)
    inner = sums.narrow(axis, max(by, 0) if inside else 0, inside)
    shape = list(sums.shape)
    shape[axis] = length - inside
    edge = sums.narrow(axis, length if by > 0 else 0, 1).expand(shape)
    return torch.cat([inner, edge] if by > 0 else [edge, inner], axis)


def _extent(length: int, reach: int, device: torch.device) -> Tensor:
    """float32 [length]: how many places each window holds."""
    at = torch.arange(length, device=device, dtype=torch.float32)
    return (at + reach + 1).clamp(max=length) - (at - reach + 1).clamp(min=0)


def _stretched(sums: Tensor) -> Tensor:
    """int16 [B, H, W]: 0 to 255 of each image's largest, cut off.

    By way of a float32 quotient, as OpenCV has it, whose product with 255 cuts off alike in float32 and in its float64
    for all sums there are (0 to 6 · 255).
    """
    largest = sums.amax((1, 2), keepdim=True).clamp(min=1).float()
    return (sums.float() / largest).mul_(255).to(torch.int16)
