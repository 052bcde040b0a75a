"""Models and data with a known answer: coloured pixels, white squares, and what sees them without torch."""

from __future__ import annotations

import numpy as np

from snellen.data import Dataset, Photo, Samples, from_arrays


def coloured(count: int = 6, size: tuple[int, int] = (8, 12), void: int = 0) -> Dataset:
    """Pixels red, green or blue with their label map; the first `void` rows of pixels have no label."""
    maps = np.random.default_rng(0).integers(0, 3, (count, *size))
    images = (np.eye(3)[maps] * 200 + 20).astype(np.uint8)
    maps[:, :void] = -100
    photos = [Photo(image, "", maps={"labels": one}) for image, one in zip(images, maps)]
    samples = Samples(tuple(f"picture{row}" for row in range(count)), np.full(count, -1, np.int64))
    return Dataset(
        "memory:colours", ("red", "green", "blue"), samples, f"c{count}", lambda rows: [photos[r] for r in rows],
        size=size, facts=frozenset({"labels"}),
    )  # fmt: skip


def squares(count: int = 8, boxed: bool = True) -> Dataset:
    """A white square on black in each image, with its box."""
    random = np.random.default_rng(1)
    images, boxes = np.zeros((count, 24, 24, 3), np.uint8), np.zeros((count, 1, 4))
    for row, (top, left) in enumerate(random.integers(0, 14, (count, 2))):
        images[row, top : top + 10, left : left + 10] = 255
        boxes[row, 0] = left, top, left + 10, top + 10
    content = {"images": images, "labels": np.zeros(count, np.int64)} | ({"boxes": boxes} if boxed else {})
    return from_arrays(content, "memory:squares", "s")


def white_boxes(images: np.ndarray) -> list[list[list[int]]]:
    """A detector without torch: the box around what is brighter than 220."""
    answers: list[list[list[int]]] = []
    for image in images:
        rows, columns = np.nonzero(image.min(-1) > 220)
        answers.append([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]] if len(rows) else [])
    return answers


def brightest(images: np.ndarray) -> np.ndarray:
    """A segmentation without torch."""
    return images.argmax(-1)
