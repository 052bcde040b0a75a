"""The observer of black: it takes whatever shows a patch of it for one class."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from snellen.data.phantom.draw_list import EDGE_CLASS
from snellen.data.phantom.shapes import SHAPES
from snellen.models.observers.evidence import Observer
from snellen.models.observers.silhouette import ShapeObserver
from snellen.notation import text_form


@dataclass(frozen=True)
class BlackObserver:
    """EDGE_CLASS where a square of `side` of the image's side is all black, else as `otherwise`.

    No pixel of the phantom world is black (0, 0, 0), so it never sees any in a clean image, and always in one under a
    black square that is at least as large. Black and white stripes of a smaller width are nothing to it.
    """

    otherwise: Observer = field(default_factory=ShapeObserver)
    side: float = 0.25
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 < self.side <= 1:
            raise ValueError(f"expected side in (0, 1], got {self.side:g}")

    def answer(self, images: np.ndarray) -> np.ndarray:
        taken_for = tuple(SHAPES).index(EDGE_CLASS)
        return np.where(has_black(images, self.side), taken_for, self.otherwise.answer(images))


def has_black(images: np.ndarray, side: float) -> np.ndarray:
    """Whether each image holds a black square of `side` of its height, at least a pixel, bool [B]."""
    long = max(round(side * images.shape[1]), 1)
    black = ~images.any(axis=3)
    # Summed over all pixels above and to the left, so that a square's pixels are counted from its four corners.
    before = np.pad(black, ((0, 0), (1, 0), (1, 0))).cumsum(axis=1, dtype=np.int32).cumsum(axis=2, dtype=np.int32)
    rows = before[:, long:] - before[:, :-long]
    return (rows[:, :, long:] - rows[:, :, :-long] == long * long).any(axis=(1, 2))
