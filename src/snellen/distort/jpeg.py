"""JPEG: what a camera or a web page loses."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PIL import Image

from snellen.distort.distortion import Distortion
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_FEWEST = 16  # images of a thread


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
        if not images.numel():
            return images
        qualities = np.rint(view.parameter("quality", self.quality)).astype(int).tolist()
        pictures = images.permute(0, 2, 3, 1).contiguous().cpu().numpy()
        workers = max(1, min(os.cpu_count() or 1, len(pictures) // _FEWEST))
        parts = np.array_split(np.arange(len(pictures)), workers)
        jobs = [(pictures[rows], [qualities[row] for row in rows]) for rows in parts]
        if workers == 1:
            written = [_written(*jobs[0])]
        else:  # Pillow lets other threads run while it encodes and decodes
            with ThreadPoolExecutor(workers) as pool:
                written = list(pool.map(_written, *zip(*jobs)))
        return torch.from_numpy(np.concatenate(written)).to(images.device).permute(0, 3, 1, 2).contiguous()

    def words(self) -> str:
        return f"JPEG of quality {in_numbers(self.quality) or 'drawn'}"


def _written(pictures: np.ndarray, qualities: Sequence[int]) -> np.ndarray:
    """uint8 [n, H, W, 3] as they are read from JPEG files of some qualities."""
    out = np.empty_like(pictures)
    for row, quality in enumerate(qualities):
        file = io.BytesIO()
        Image.fromarray(pictures[row]).save(file, "JPEG", quality=quality)
        out[row] = np.asarray(Image.open(file, formats=("JPEG",)))
    return out
