"""Pictures of attention: an image as it is shown, and under what its object attends to (Kassaw et al. 2024, figure 16)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.explain.overlays import outline, overlay

if TYPE_CHECKING:
    from torch import Tensor

SIDE = 112  # pixels of a picture's longer side, at least


def draw_attention(image: np.ndarray, grids: Mapping[str, Tensor], edge: np.ndarray) -> dict[str, list[bytes]]:
    """By layer two PNGs of an image uint8 [3, H, W]: as it is, with the `edge` of a mask bool [H, W]; and under the attention of
    its first row of grids [B, h, w], each divided by its maximum, patch by patch.

    >>> import numpy as np, torch
    >>> from snellen.attention import draw_attention
    >>> image, edge = np.zeros((3, 8, 8), np.uint8), np.zeros((8, 8), bool)
    >>> pictures = draw_attention(image, {"blocks.11": torch.rand(1, 2, 2)}, edge)
    >>> [(name, len(pair)) for name, pair in pictures.items()]
    [('blocks.11', 2)]
    """
    pixels = image.transpose(1, 2, 0)
    times = max(1, -(-SIDE // max(pixels.shape[:2])))
    large = np.ascontiguousarray(pixels.repeat(times, 0).repeat(times, 1))
    size = (large.shape[1], large.shape[0])
    shown = _png(outline(large, edge.repeat(times, 0).repeat(times, 1)))
    pictures = {}
    for name, received in grids.items():
        values = received[0].cpu().numpy().astype(np.float32)
        heat = values / values.max() if values.max() > 0 else np.zeros_like(values)
        patches = np.asarray(Image.fromarray(heat).resize(size, Image.Resampling.NEAREST))
        pictures[name] = [shown, _png(overlay(large, patches))]
    return pictures


def _png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()
