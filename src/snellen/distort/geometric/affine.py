"""Affine maps of the plane about the middle of an image, one for all images or one for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ONE = (
    4096  # parts of a pixel in which a source place is told: whole numbers, so that every device reads the same pixels
)


@dataclass(frozen=True)
class Affine:
    """A point p, counted in pixels from the middle (x to the right, y down), goes to matrix · p + offset.

    `matrix` is float64 [b, 2, 2] and `offset` [b, 2]; b is 1 where all images share the map.
    """

    matrix: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(cls, rows: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Affine:
        """The map of a matrix whose entries are arrays [b]; the middle stays."""
        matrix = np.stack([np.stack(row, -1) for row in rows], -2)
        return cls(matrix, np.zeros((len(matrix), 2)))

    def sources(self, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where the pixels of an image come from, in parts of a pixel: (x, y) = (of_column + of_row) for either.

        int32: x by column [b, W], x by row [b, H], y by column [b, W], y by row [b, H]. Halves and whole numbers are exact.
        """
        back = np.linalg.inv(self.matrix)
        across = np.arange(width) + 0.5 - width / 2 - self.offset[:, :1]
        down = np.arange(height) + 0.5 - height / 2 - self.offset[:, 1:]
        parts = (
            back[:, 0, :1] * across + (width - 1) / 2,
            back[:, 0, 1:] * down,
            back[:, 1, :1] * across,
            back[:, 1, 1:] * down + (height - 1) / 2,
        )
        return tuple(np.rint(part * ONE).astype(np.int32) for part in parts)

    def of_boxes(self, boxes: np.ndarray, height: int, width: int, row: int) -> np.ndarray:
        """Boxes float [n, 4] of image `row` moved along: the upright boxes around their corners, within the image.

        One that leaves the image is left out; what the border mirrors has none.
        """
        if not len(boxes):
            return boxes
        number = row if len(self.matrix) > 1 else 0
        middle = np.array([width, height]) / 2
        corners = np.stack([boxes[:, [a, b]] for a in (0, 2) for b in (1, 3)], 1) - middle  # [n, 4, 2]
        there = corners @ self.matrix[number].T + self.offset[number] + middle
        sides = np.array([width, height])
        low, high = (np.clip(end, 0, sides) for end in (there.min(1), there.max(1)))
        return np.concatenate([low, high], 1)[(high > low).all(1)]
