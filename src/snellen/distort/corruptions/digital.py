"""Colours, contrast, raster and compression: brightness, contrast, saturation, elastic, pixelate, JPEG."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.distort.corruptions.warping import read_at, smoothed, through_triangle
from snellen.distort.each_picture import each_picture
from snellen.distort.jpeg import through_jpeg
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def brightness(images: Tensor, view: View, added: float) -> Tensor:
    """The value of every pixel (the largest of its three) is raised; hue and saturation stay."""
    largest = images.amax(1, keepdim=True).int()
    places = largest.mul_(256) + images
    return _raised(added).to(images.device).index_select(0, places.flatten()).view_as(images)


def contrast(images: Tensor, view: View, factor: float) -> Tensor:
    """Every channel is draws towards its mean."""
    height, width = images.shape[2:]
    means = images.flatten(2).sum(2, dtype=torch.int64).double().div_(max(height * width, 1))[..., None, None]
    return _clipped(images.double().sub_(means).mul_(factor).add_(means))


def saturate(images: Tensor, view: View, settings: tuple[float, float]) -> Tensor:
    """The saturation of every pixel is changed; hue and value stay. A grey pixel has the hue of red."""
    factor, added = settings
    pixels = images.float()
    largest, least = pixels.amax(1, keepdim=True), pixels.amin(1, keepdim=True)
    grey = largest == least
    saturation = (largest - least) / largest.clamp(min=1)
    wanted = saturation.mul(factor).add_(added).clamp_(0, 1)
    away = (largest - pixels) * (wanted / saturation.masked_fill(grey, 1))
    away[:, 1:] += (largest * wanted).masked_fill(~grey, 0)
    return _clipped(largest - away)


def elastic_transform(images: Tensor, view: View, amount: float) -> Tensor:
    """Pixels are moved by smooth random fields; beyond the border lies the image mirrored at it."""
    height, width = images.shape[2:]
    reach = 0.005 * height
    fields = [smoothed(_field(view, name, height, width), 0.01 * height, 0.01 * width) for name in ("across", "down")]
    return read_at(images, *(field * (reach * amount) for field in fields))


def elastic_small(images: Tensor, view: View, settings: tuple[float, float, float]) -> Tensor:
    """The same for small images: first three points move, and all others by the affine map that this gives."""
    amount, sigma, corner = (share * images.shape[2] for share in settings)
    height, width = images.shape[2:]
    moved = through_triangle(images, corner * (2 * view.draw.uniforms("corners", 6).reshape(-1, 3, 2) - 1))
    fields = [smoothed(_field(view, name, height, width), sigma, sigma) for name in ("across", "down")]
    return read_at(moved, *(field * amount for field in fields))


def pixelate(images: Tensor, view: View, share: float) -> Tensor:
    """Made smaller by means over boxes, then as large as before by repeating pixels."""
    batch, channels, height, width = images.shape
    planes = images.reshape(-1, width).cpu().numpy()
    # Pillow's means, of whole batches: first across, with all rows of all images one under the other, then down.
    across = _shrunk(planes, (max(int(width * share), 1), len(planes)))
    beside = across.reshape(batch * channels, height, -1).swapaxes(0, 1).reshape(height, -1)
    down = _shrunk(beside, (beside.shape[1], max(int(height * share), 1)))
    small = down.reshape(len(down), batch, channels, -1).transpose(1, 2, 0, 3)
    rows, columns = (_repeats(*sides) for sides in zip(small.shape[2:], (height, width)))
    return torch.from_numpy(small.take(columns, 3).take(rows, 2)).to(images.device)  # faster than rows first


def jpeg_compression(images: Tensor, view: View, quality: int) -> Tensor:
    """Written as JPEG of a low quality and read again."""
    return each_picture(images, lambda planes, row: through_jpeg(planes, quality))


def _shrunk(plane: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """uint8 of a (width, height), by means over boxes."""
    return np.asarray(Image.fromarray(plane).resize(size, Image.Resampling.BOX))


@functools.lru_cache(maxsize=64)
def _repeats(small: int, large: int) -> np.ndarray:
    """int64 [large]: which of the `small` pixels of a row Pillow repeats at each place of an enlarged one."""
    numbers = Image.fromarray(np.arange(small, dtype=np.int32)[None])
    return np.asarray(numbers.resize((large, 1), Image.Resampling.NEAREST))[0].astype(np.int64)


def _field(view: View, name: str, height: int, width: int) -> Tensor:
    """float64 [B, H, W]: uniform in −1 … 1."""
    draws = view.draw.bytes(name, (height, width, 2)).view(torch.int16)[..., 0]
    return draws.double().add_(0.5).div_(2**15)


@functools.lru_cache(maxsize=10)
def _raised(added: float) -> Tensor:
    """uint8 [256 · 256]: what a value becomes, by the largest of its pixel and itself."""
    largest, own = np.mgrid[:256, :256]
    raised = np.minimum(largest + 255 * added, 255)
    share = np.where(largest > 0, own / np.maximum(largest, 1), 1)
    return torch.from_numpy(np.minimum(raised * share + 1e-9, 255).astype(np.uint8).reshape(-1))


def _clipped(values: Tensor) -> Tensor:
    return values.add_(1e-4).clamp_(0, 255).to(torch.uint8)
