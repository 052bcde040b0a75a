"""Images of another dataset as partners: brought to the size and type of the batch they are mixed into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

    Mean = Tensor | Sequence[float] | None


def fitted(partners: Tensor, size: tuple[int, int], resize: bool = False, mean: Mean = None) -> Tensor:
    """The images [N, 3, h, w] at `size` (height, width), of the same type.

    Smaller ones are padded all round (28 to 32: two pixels per side; an odd one goes right and below) with `mean`, 0 if
    none. Others are resized with `resize` (bilinear, antialiased) and are an error without it.

    >>> from snellen.train.mixing import fitted
    >>> import torch
    >>> fitted(torch.ones(1, 3, 28, 28), (32, 32)).shape  # two pixels more on each side
    torch.Size([1, 3, 32, 32])
    """
    height, width = partners.shape[2:]
    if (height, width) == tuple(size):
        return partners
    if resize:
        whole = partners if partners.dtype == torch.uint8 or partners.is_floating_point() else partners.float()
        return torch.nn.functional.interpolate(whole, size=tuple(size), mode="bilinear", antialias=True)
    down, across = size[0] - height, size[1] - width
    if down < 0 or across < 0:
        raise UserError(
            f"expected partners of at most {size[0]}×{size[1]} pixels (height × width), got {height}×{width};"
            " resize them (`fitted(partners, size, resize=True)`)"
        )
    padded = paint(mean, partners).expand(len(partners), -1, *size).contiguous()
    padded[:, :, down // 2 : down // 2 + height, across // 2 : across // 2 + width] = partners
    return padded


def paint(mean: Mean, images: Tensor) -> Tensor:
    """[1, 3, 1, 1] of the images' type and device: the colour `mean` in 0 to 255, black if None."""
    if mean is None:
        return images.new_zeros(1, images.shape[1], 1, 1)
    colour = mean if isinstance(mean, torch.Tensor) else torch.tensor(mean, dtype=torch.float32)
    return as_type(_moved(colour, images.device), images.dtype).view(1, -1, 1, 1)


def like(partners: Tensor, images: Tensor, mean: Mean) -> Tensor:
    """As many partners as there are images, of their size, type and device."""
    if len(partners) < len(images):
        raise UserError(f"expected at least {len(images)} partners, one per image, got {len(partners)}")
    if partners.dim() != 4 or partners.shape[1] != images.shape[1]:
        raise UserError(f"expected partners [B, {images.shape[1]}, h, w], got {list(partners.shape)}")
    part = _moved(partners[: len(images)], images.device)
    return fitted(as_type(part, images.dtype), (images.shape[2], images.shape[3]), mean=mean)


def as_type(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The values in another type; rounded and held within 0 to 255 where bytes are made of fractions."""
    if dtype == torch.uint8 and values.is_floating_point():
        values = values.round().clamp(0, 255)
    return values.to(dtype)


def _moved(values: Tensor, device: torch.device) -> Tensor:
    """The values on a device; by way of pinned memory to a GPU, so that the copy does not wait for it to be idle."""
    if values.device.type == "cpu" and device.type == "cuda":
        values = values.pin_memory()
    return values.to(device, non_blocking=True)
