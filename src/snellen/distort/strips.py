"""Backgrounds without their object: the largest strip beside the box, tiled over it (Xiao et al. 2021, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from snellen.distort.draws import on_device
from snellen.extras import import_package
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

Inpaint = Literal["tile", "telea", "ns"]
_SLACK = 1e-6  # of a pixel: a box scaled to 112.00000000000001 ends at 112
_CHUNK = 256  # images tiled at once, so that the places of a large pool stay small


@dataclass(frozen=True)
class Strips:
    """One strip per image: whether it is `upright` (left or right of the box), its first pixel and its length, all [B].

    A length of 0 says that the box leaves no strip.
    """

    upright: np.ndarray
    start: np.ndarray
    length: np.ndarray


def rectangles(boxes: Sequence[np.ndarray], height: int, width: int) -> np.ndarray:
    """int64 [B, 4]: x0, y0, x1, y1 (maximum exclusive) of the whole pixels that an image's boxes span together.

    The minimum is rounded down and the maximum up, then clipped to the image; an image without boxes has 0, 0, 0, 0.
    """
    spans = np.zeros((len(boxes), 4))
    for row, some in enumerate(boxes):
        corners = np.asarray(some, float).reshape(-1, 4)
        corners = corners[np.isfinite(corners).all(1)]
        if len(corners):
            spans[row] = [*corners[:, :2].min(0), *corners[:, 2:].max(0)]
    whole = np.concatenate([np.floor(spans[:, :2] + _SLACK), np.ceil(spans[:, 2:] - _SLACK)], 1)
    return np.clip(whole, 0, [width, height, width, height]).astype(np.int64)


def spanned(masks: Tensor) -> np.ndarray:
    """int64 [B, 4]: the rectangles around masks bool [B, H, W], as `rectangles` gives them; 0, 0, 0, 0 where empty."""
    across, down = masks.any(1).cpu().numpy(), masks.any(2).cpu().numpy()
    ends = [
        (np.where(some.any(1), some.argmax(1), 0), np.where(some.any(1), some.shape[1] - some[:, ::-1].argmax(1), 0))
        for some in (across, down)
    ]
    return np.stack([ends[0][0], ends[1][0], ends[0][1], ends[1][1]], 1).astype(np.int64)


def largest_strips(
    boxes: np.ndarray, height: int, width: int, edge: Literal["excluded", "included"] = "excluded"
) -> Strips:
    """The strip tiled over each of the boxes int [B, 4] (x0, y0, x1, y1, maximum exclusive).

    The larger of the left and right strip (full height) is taken if it has strictly more pixels than the larger of the
    top and bottom one (full width); ties inside a pair go right and down. Strips end at the box; with `edge=included`
    the right and bottom ones begin with the box's own last column or row, as in the public code of Xiao et al. 2021.
    """
    own = int(edge == "included")
    left, top, right, bottom = boxes[:, 0], boxes[:, 1], width - boxes[:, 2] + own, height - boxes[:, 3] + own
    across, down = np.maximum(left, right), np.maximum(top, bottom)
    upright = across * height > down * width
    start = np.where(upright, np.where(left > right, 0, width - right), np.where(top > bottom, 0, height - bottom))
    return Strips(upright, start, np.where(upright, across, down))


def inside(boxes: np.ndarray, height: int, width: int, device: torch.device) -> Tensor:
    """bool [B, H, W]: the pixels of rectangles int [B, 4]."""
    x0, y0, x1, y1 = on_device(np.ascontiguousarray(boxes.T), device)[:, :, None]
    rows, columns = torch.arange(height, device=device), torch.arange(width, device=device)
    return ((rows >= y0) & (rows < y1))[:, :, None] & ((columns >= x0) & (columns < x1))[:, None, :]


def tiled(images: Tensor, boxes: np.ndarray, edge: Literal["excluded", "included"] = "excluded") -> Tensor:
    """The images uint8 [B, 3, H, W] with their boxes (int [B, 4]) replaced by the tiled strip.

    The strip is repeated from the image's own corner, so a tile does not start at the box. Where there is no strip the
    image stays as it is.
    """
    return torch.cat(
        [_tiled(part, boxes[n * _CHUNK : (n + 1) * _CHUNK], edge) for n, part in enumerate(images.split(_CHUNK))]
    )


def _tiled(images: Tensor, boxes: np.ndarray, edge: Literal["excluded", "included"]) -> Tensor:
    height, width = images.shape[2:]
    strips = largest_strips(boxes, height, width, edge)
    whole = np.maximum(strips.length, 1)[:, None]
    rows, columns = np.arange(height)[None], np.arange(width)[None]
    there = (strips.length > 0)[:, None]
    upright, start = strips.upright[:, None], strips.start[:, None]
    rows = np.where(~upright & there, start + rows % whole, rows)
    columns = np.where(upright & there, start + columns % whole, columns)
    down, across = (on_device(places, images.device) for places in (rows, columns))
    place = (down[:, :, None] * width + across[:, None, :]).flatten(1)
    strip = images.flatten(2).gather(2, place[:, None].expand(-1, images.shape[1], -1)).view_as(images)
    return replaced(images, inside(boxes, height, width, images.device), strip)


def replaced(images: Tensor, cover: Tensor, layer: Tensor) -> Tensor:
    """The images with the covered pixels (bool [B, H, W]) taken from the layer; bitwise, as it is the fastest on bytes."""
    hidden = cover[:, None].to(torch.uint8).neg_()
    return (images ^ layer).bitwise_and_(hidden).bitwise_xor_(images)


class Outlines(Protocol):
    """Where the objects of some images are, as a View and Donors know it: by boxes or by masks."""

    @property
    def boxes(self) -> Sequence[np.ndarray] | None: ...
    @property
    def masks(self) -> Tensor | None: ...


def boxes_of(images: Tensor, known: Outlines) -> np.ndarray:
    """int64 [B, 4]: the rectangle around each image's boxes, or around its mask where boxes are not known."""
    if known.boxes is not None:
        return rectangles(known.boxes, images.shape[2], images.shape[3])
    if known.masks is None:
        raise ValueError("expected boxes or masks of the images; pass boxes=… or masks=…")
    return spanned(known.masks)


def lends(boxes: np.ndarray, height: int, width: int) -> np.ndarray:
    """bool [B]: whether an image with this box has a background to give: a box with an area and a strip beside it."""
    return ~empty(boxes) & (largest_strips(boxes, height, width).length > 0)


def filled(images: Tensor, boxes: np.ndarray, inpaint: Inpaint = "tile") -> Tensor:
    """Only the background: the boxes (int [B, 4]) of images uint8 [B, 3, H, W] filled from around them."""
    if inpaint == "tile":
        return tiled(images, boxes)
    cv2 = import_package("cv2", f"inpaint={inpaint}")
    method = {"telea": cv2.INPAINT_TELEA, "ns": cv2.INPAINT_NS}[inpaint]
    out = images.cpu().numpy().copy()
    for image, (x0, y0, x1, y1) in zip(out, boxes):
        hole = np.zeros(image.shape[1:], np.uint8)
        hole[y0:y1, x0:x1] = 1
        if 0 < hole.sum() < hole.size:
            image[:] = cv2.inpaint(np.ascontiguousarray(image.transpose(1, 2, 0)), hole, 3, method).transpose(2, 0, 1)
    return torch.from_numpy(out).to(images.device)


def empty(boxes: np.ndarray) -> np.ndarray:
    """bool [B]: whether a box has no area."""
    return (boxes[:, 2] <= boxes[:, 0]) | (boxes[:, 3] <= boxes[:, 1])
