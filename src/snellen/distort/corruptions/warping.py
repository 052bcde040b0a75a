"""Reading images at places between their pixels: smooth random fields, and the affine map that three points give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.raster import mirrored
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_BITS, _SHORT = 12, 1  # of a place, and those that the weights leave away: whole numbers, and products below 2^31
PIXEL, _WEIGHT = 1 << _BITS, 1 << (_BITS - _SHORT)  # a pixel, as a place and as a weight
Inside = Callable[["Tensor", int], "Tensor"]  # which pixel lies at a place beyond the border


def read_at(images: Tensor, across: Tensor, down: Tensor) -> Tensor:
    """uint8 [B, C, H, W] read as far to the right and down of each pixel as [B, H, W] say, rounded down.

    Beyond the border lies the image mirrored at it.
    """
    height, width = images.shape[2:]
    rows = torch.arange(height, device=images.device)[:, None]
    columns = torch.arange(width, device=images.device)
    there = [shift.mul(PIXEL).round_().int() + at.int() * PIXEL for shift, at in ((down, rows), (across, columns))]
    return _between(images, there[0], there[1], mirrored)


def through_triangle(images: Tensor, moved: np.ndarray) -> Tensor:
    """Images whose three points around the middle are moved by [B, 3, 2] pixels (x, y), and everything with them.

    Beyond the border lies the image mirrored at its last pixel.
    """
    height, width = images.shape[2:]
    middle, reach = np.array([width // 2, height // 2], float), min(height, width) // 3
    before = middle + reach * np.array([[1, 1], [1, -1], [-1, -1]])
    level = np.concatenate([before + moved, np.ones((len(moved), 3, 1))], 2)
    back = np.linalg.solve(level, np.broadcast_to(before, moved.shape))  # [B, 3, 2]: where each pixel comes from
    columns, rows = np.arange(width), np.arange(height)[:, None]
    x, y = (
        back[:, 0, k, None, None] * columns + back[:, 1, k, None, None] * rows + back[:, 2, k, None, None]
        for k in (0, 1)
    )
    places = [torch.from_numpy(np.rint(place * PIXEL).astype(np.int32)).to(images.device) for place in (y, x)]
    return _between(images, places[0], places[1], _bounced)


def smoothed(fields: Tensor, down: float, across: float) -> Tensor:
    """float64 [B, H, W] smoothed by Gaussians of some sigma, cut at 3 of them, mirrored at the border."""
    return torch.cat([_smoothed(_smoothed(field, down, 1), across, 2) for field in fields.split(1)])


def _smoothed(field: Tensor, sigma: float, dim: int) -> Tensor:
    side, reach = field.shape[dim], int(3 * sigma + 0.5)
    if not reach:
        return field
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    edged = field.index_select(dim, mirrored(torch.arange(-reach, side + reach, device=field.device), side))
    out = torch.zeros_like(field)
    for start, weight in enumerate((bell / bell.sum()).tolist()):
        out.add_(edged.narrow(dim, start, side), alpha=weight)
    return out


def _between(images: Tensor, rows: Tensor, columns: Tensor, inside: Inside) -> Tensor:
    """Between the four pixels around each place, told in parts of a pixel [B, H, W]; one image stays in the cache."""
    parts = (_blended(image, row, column, inside) for image, row, column in zip(images, rows, columns))
    return torch.stack(list(parts))


def _blended(image: Tensor, row: Tensor, column: Tensor, inside: Inside) -> Tensor:
    height, width = image.shape[1:]
    flat = image.flatten(1)
    top, left = row >> _BITS, column >> _BITS
    lower, right = (row & (PIXEL - 1)) >> _SHORT, (column & (PIXEL - 1)) >> _SHORT
    total = torch.zeros(flat.shape, dtype=torch.int32, device=image.device)
    columns = [(inside(x, width), share) for x, share in ((left, _WEIGHT - right), (left + 1, right))]
    for y, weight in ((top, _WEIGHT - lower), (top + 1, lower)):
        first = inside(y, height) * width
        for x, share in columns:
            pixels = flat.index_select(1, (first + x).flatten())
            total.addcmul_(pixels.int(), (weight * share).flatten())
    return total.bitwise_right_shift_(2 * (_BITS - _SHORT)).byte().view_as(image)


def _bounced(place: Tensor, side: int) -> Tensor:
    """Places outside 0 … side − 1 mirrored at the last pixel: −1 is 1, however far out."""
    period = max(2 * (side - 1), 1)
    within = place.remainder(period)
    return torch.minimum(within, period - within) if side > 1 else within * 0
