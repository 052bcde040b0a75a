"""Tables of 256 entries: made in float32 as Pillow computes them, and looked up for every pixel of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_VALUES_AT_ONCE = 1 << 24  # on a GPU, where an index takes eight bytes


def blend(low: Tensor, high: Tensor, factor: Tensor) -> Tensor:
    """uint8 of `low + factor · (high − low)`, cut to 0…255 and rounded down: Pillow's Image.blend, in float32 like it."""
    return between(low, high, factor).to(torch.uint8)


def between(low: Tensor, high: Tensor, factor: Tensor) -> Tensor:
    """The same before it is rounded down, float32.

    The product is rounded before the sum is made, so it must stay two operations. Both sides are converted first: torch takes
    twice as long over operands of two types.
    """
    base, change = low.float(), high.float()
    change = change.sub_(base) if change.ndim >= base.ndim else change - base
    change = change.mul_(factor) if change.ndim >= factor.ndim else change * factor
    return change.add_(base).clamp_(0, 255)


def look_up(planes: Tensor, table: Tensor, in_place: bool = False) -> Tensor:
    """uint8 [B, C, H, W] through a table uint8 [b, c, 256]: one of all or of each image (b), of all or of each channel (c).

    `in_place` says that the planes may be overwritten.
    """
    if table.shape[1] > planes.shape[1]:
        planes, in_place = planes.expand(-1, table.shape[1], -1, -1), False
    if planes.device.type == "cpu":
        source = planes.contiguous()
        return _on_cpu(source, table, source if in_place else torch.empty(source.shape, dtype=source.dtype))
    count, channels = planes.shape[:2]
    rows = table.expand(count, channels, 256).reshape(-1)
    offsets = torch.arange(count * channels, device=planes.device).mul_(256).view(count, channels, 1, 1)
    size = max(1, _VALUES_AT_ONCE // max(1, planes[:1].numel()))
    return torch.cat([rows[part.long().add_(own)] for part, own in zip(planes.split(size), offsets.split(size))])


def _on_cpu(planes: Tensor, table: Tensor, changed: Tensor) -> Tensor:
    """OpenCV's lookup: indexing in torch or NumPy turns every pixel into an eight-byte index and takes 20 × as long."""
    import cv2

    count, channels, height, width = planes.shape
    if not planes.numel():
        return changed
    tables = table.contiguous().numpy()
    # As NumPy strides a flat array: those of torch for a single pixel may be such as OpenCV refuses.
    source, target = (
        flat.numpy().reshape(count, channels, height * width) for flat in (planes.view(-1), changed.view(-1))
    )
    if len(table) == 1 and table.shape[1] == 1:
        cv2.LUT(source.reshape(count, -1), tables[0, 0], dst=target.reshape(count, -1))
    elif len(table) == 1:
        for channel in range(channels):
            cv2.LUT(source[:, channel], tables[0, channel], dst=target[:, channel])
    elif table.shape[1] == 1:
        for row in range(count):
            cv2.LUT(source[row], tables[row, 0], dst=target[row])
    else:
        flat, outcome, rows = (array.reshape(count * channels, 1, -1) for array in (source, target, tables))
        for plane in range(count * channels):
            cv2.LUT(flat[plane], rows[plane, 0], dst=outcome[plane])
    return changed
