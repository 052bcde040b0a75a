"""JPEG: what a camera or a web page loses."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from PIL import Image

from snellen.distort.distortion import Distortion
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_FEWEST = 16  # images of a thread
T = TypeVar("T")


@dataclass(frozen=True)
class Jpeg(Distortion):
    """Write the image as JPEG and read it again; `quality` is 1 to 100, a whole number, or a law of it per image, rounded.

    Pillow does both, in threads on the CPU, with its own settings (4:2:0 chroma): a file that people really have comes out of
    such a library, and no approximation on another device has its very pixels.
    """

    quality: int | Law = 50
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        expect_within("quality", self.quality, 1, 100)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        qualities = np.rint(view.parameter("quality", self.quality)).astype(int).tolist()
        return by_pillow(images, qualities, _written)

    def words(self) -> str:
        return f"JPEG of quality {in_numbers(self.quality) or 'drawn'}"


def by_pillow(images: Tensor, values: Sequence[T], change: Callable[[Image.Image, T], Image.Image]) -> Tensor:
    """Images [B, 3, H, W] after a change that Pillow makes to each, by its own value; in threads where there are many."""
    if not images.numel():
        return images
    pictures = images.permute(0, 2, 3, 1).contiguous().cpu().numpy()

    def changed(rows: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(change(Image.fromarray(pictures[row]), values[row])) for row in rows])

    workers = max(1, min(os.cpu_count() or 1, len(pictures) // _FEWEST))
    parts = np.array_split(np.arange(len(pictures)), workers)
    if workers == 1:
        changed_parts = [changed(parts[0])]
    else:  # Pillow lets other threads run while it works
        with ThreadPoolExecutor(workers) as pool:
            changed_parts = list(pool.map(changed, parts))
    return torch.from_numpy(np.concatenate(changed_parts)).to(images.device).permute(0, 3, 1, 2).contiguous()


def _written(picture: Image.Image, quality: int) -> Image.Image:
    """The picture as it is read from a JPEG file of some quality."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return Image.open(file, formats=("JPEG",))
