"""Choosing between two images pixel by pixel, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.draws import on_device
from snellen.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


def selected(mine: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """`own` where `mine` is true and `other` elsewhere; `mine` bool, broadcast to their shape; a new tensor.

    On a CPU by a ^ ((a ^ b) & mask) on the bits, eight times as fast as `torch.where` (1 thread, torch 2.15).
    """
    if own.device.type != "cpu" or own.dtype not in _words():
        return torch.where(mine, own, other)
    word = _words()[own.dtype]
    bits, mask = own.view(word), mine.to(word).neg_()  # 1 becomes all ones
    return torch.bitwise_xor(bits, other.view(word)).bitwise_and_(mask).bitwise_xor_(other.view(word)).view(own.dtype)


def paste_boxes(into: Tensor, source: Tensor, rows: list[int], boxes: np.ndarray) -> None:
    """Copy one box of source[rows[i]] into the image (or label map) i, at the same place, for every i; on a CPU.

    `boxes` int [B, 4] are top, bottom, left, right, the ends exclusive. A loop: it touches nothing outside the boxes,
    and so beats a mask over the batch.
    """
    word = _words().get(into.dtype, into.dtype)
    target, origin = into.view(word).numpy(), source.view(word).numpy()
    for number, (row, (top, bottom, left, right)) in enumerate(zip(rows, boxes.tolist(), strict=True)):
        target[number, ..., top:bottom, left:right] = origin[row, ..., top:bottom, left:right]


def box_masks(boxes: np.ndarray, height: int, width: int, device: torch.device) -> Tensor:
    """bool [B, H, W]: the pixels in each image's box, int [B, 4] as in `paste_boxes`."""
    top, bottom, left, right = on_device(boxes.T[:, :, None], device)
    down, across = (torch.arange(length, device=device) for length in (height, width))
    return ((down >= top) & (down < bottom))[:, :, None] & ((across >= left) & (across < right))[:, None, :]


def _words() -> dict[torch.dtype, torch.dtype]:
    """Types of which the bits may be mixed → whole numbers of the same length."""
    return {
        torch.uint8: torch.uint8,
        torch.int64: torch.int64,
        torch.float32: torch.int32,
        torch.float16: torch.int16,
        torch.bfloat16: torch.int16,
    }
