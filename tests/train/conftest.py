"""Small images with a known answer, and one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Batches this small gain nothing from a second thread, and waiting for one on a busy machine costs seconds."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def bars() -> Callable[..., Dataset]:
    """Noise with one bright bar, lying or standing, anywhere: two classes that no single pixel tells apart."""

    def make(
        count: int = 300, seed: int = 0, classes: tuple[str, ...] = ("lying", "standing"), side: int = 28
    ) -> Dataset:
        draw = np.random.default_rng(seed)
        images = draw.integers(0, 120, (count, side, side, 3), dtype=np.uint8)
        labels = np.arange(count) % 2
        for image, label in zip(images, labels):
            top, left = draw.integers(0, side - 12, 2)
            height, width = (3, 12) if label == 0 else (12, 3)
            image[top : top + height, left : left + width] = draw.integers(180, 255, 3)
        held = {"images": images, "labels": labels, "classes": np.array(classes)}
        return from_arrays(held, f"arrays:bars-{seed}.npz", f"bars-{count}-{seed}-{side}")

    return make
