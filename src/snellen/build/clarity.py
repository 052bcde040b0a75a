"""How clear an image is: its size and its sharpness, by which Kassaw et al. 2024 choose images for people (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALL, BLURRED = "too few pixels", "not sharp"


@dataclass(frozen=True)
class Clarity:
    """What an image must have: more than `pixels` pixels, and a variance of its Laplacian of more than `sharpness`."""

    pixels: float = 0
    sharpness: float = 0

    def refuse(self, pixels: int, sharpness: float) -> tuple[str, str]:
        """Why an image is not clear enough, and by how much; empty where it is."""
        if self.pixels and pixels <= self.pixels:
            return SMALL, f"{pixels:,} pixels, not more than {self.pixels:,.0f}"
        if self.sharpness and sharpness <= self.sharpness:
            return BLURRED, f"sharpness {sharpness:.2f}, not more than {self.sharpness:g}"
        return "", ""


def sharpness_of(image: np.ndarray) -> float:
    """The variance of the Laplacian of an image uint8 [H, W, 3], over all pixels and channels, as OpenCV computes it.

    Its kernel is 1 above, below, left and right and −4 in the middle; the border is mirrored at the outermost pixels.
    """
    height, width = image.shape[:2]
    around = [(1 if length > 1 else 0,) * 2 for length in (height, width)]  # one pixel has no neighbour to mirror
    wide = np.pad(image.astype(np.int32), [*around, (0, 0)], "reflect")
    if height == 1:
        wide = np.concatenate([wide] * 3)
    if width == 1:
        wide = np.concatenate([wide] * 3, axis=1)
    middle = wide[1:-1, 1:-1]
    laplacian = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * middle
    return float(laplacian.var())
