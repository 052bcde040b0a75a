"""An observer that says it looks elsewhere: its answers are another's, its map is partly noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.draws import mixed
from snellen.models.observers.evidence import Observer, draw
from snellen.notation import text_form


@dataclass(frozen=True)
class MisreportObserver:
    """Answers as `first`, but on a `share` of the images (a coin for each, by a hash of its pixels) its map is not what it looks
    at: each pixel has `noise` (0 to 1) of a random value and the rest of its own."""

    first: Observer
    share: float = 1.0
    noise: float = 1.0
    __str__ = text_form

    def __post_init__(self) -> None:
        for name, value in (("share", self.share), ("noise", self.noise)):
            if not 0 <= value <= 1:
                raise ValueError(f"expected {name} in [0, 1], got {value:g}")

    def answer(self, images: np.ndarray) -> np.ndarray:
        return self.first.answer(images)

    def distort(self, images: np.ndarray, support: np.ndarray) -> np.ndarray:
        """The map that it reports, float [B, H, W], of images uint8 [B, H, W, 3] and where it looks in them, [B, H, W]."""
        noisy = (1 - self.noise) * support + self.noise * random_values(images)
        return np.where((draw(images, "misreport") < self.share)[:, None, None], noisy, support)


def random_values(images: np.ndarray) -> np.ndarray:
    """float64 [B, H, W] in [0, 1): a value for each pixel, by a hash of the image and the pixel's place."""
    count, height, width = images.shape[:3]
    keys = (draw(images, "values") * 2**53).astype(np.uint64)[:, None] << np.uint64(11)
    words = mixed(keys + np.arange(height * width, dtype=np.uint64))
    return ((words >> np.uint64(11)).astype(np.float64) / 2**53).reshape(count, height, width)
