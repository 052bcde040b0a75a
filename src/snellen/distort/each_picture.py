"""Distorting by Pillow, or another library that takes one picture at a time, in threads on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_FEWEST = 16  # pictures of a thread


def each_picture(images: Tensor, change: Callable[[np.ndarray, int], np.ndarray]) -> Tensor:
    """Images uint8 [B, 3, H, W], each made by `change` of its planes uint8 [3, H, W] and its row."""
    if not images.numel():
        return images
    pictures = images.contiguous().cpu().numpy()
    out = np.empty_like(pictures)

    def fill(rows: np.ndarray) -> None:
        for row in rows.tolist():
            out[row] = change(pictures[row], row)

    workers = max(1, min(os.cpu_count() or 1, len(pictures) // _FEWEST))
    parts = np.array_split(np.arange(len(pictures)), workers)
    if workers == 1:
        fill(parts[0])
    else:  # such libraries let other threads run while they work
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, parts))
    return torch.from_numpy(out).to(images.device)


def picture_of(planes: np.ndarray) -> Image.Image:
    """Pillow's picture of planes uint8 [3, H, W]; faster than by way of [H, W, 3]."""
    return Image.merge("RGB", [Image.fromarray(plane) for plane in planes])


def planes_of(picture: Image.Image) -> np.ndarray:
    """uint8 [3, H, W]: the planes of an RGB picture."""
    return np.stack([np.asarray(plane) for plane in picture.split()])
