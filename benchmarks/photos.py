"""Photos for benchmarks of reading: JPEG files of the size and detail of ImageNet's, in one folder per class."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = 10
SIZES = ((500, 375), (375, 500), (500, 333), (640, 480))  # width, height


def photo(number: int) -> Image.Image:
    """A picture with coarse and fine structure, about as hard to decode as a photo of its size (some 90 KB)."""
    random = np.random.default_rng(number)
    width, height = SIZES[number % len(SIZES)]
    picture = np.zeros((height, width, 3), np.float32)
    for cells, strength in ((4, 60), (24, 40), (120, 18)):
        coarse = Image.fromarray(random.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        picture += strength / 255 * (np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)) - 128.0)
    return Image.fromarray(np.clip(picture + 128, 0, 255).astype(np.uint8))


def write_photos(folder: Path, count: int) -> Path:
    """So many JPEG files, in one sub-folder per class; their folder."""

    def write(number: int) -> None:
        file = folder / f"class{number % CLASSES}" / f"{number:06d}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        photo(number).save(file, quality=92)

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(count)))
    return folder
