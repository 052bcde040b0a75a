"""Maps drawn over images: false colours, the edge of a mask and boxes, on arrays alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

STRENGTH = 0.55  # how much of the photo the strongest colour hides
# dark blue, blue, cyan, yellow, red: from nothing to the maximum, so that order is seen in grey prints too
COLOURS = np.array([[13, 8, 60], [30, 80, 200], [40, 190, 200], [250, 220, 60], [220, 30, 20]], float)


def overlay(image: Any, heat: Any) -> np.ndarray:
    """uint8 [H, W, 3]: an image (uint8 [H, W, 3] or [3, H, W]) under a map [H, W] in 0…1 (or 8 or 16 bits) in false colours.

    Both are arrays or tensors.

    >>> import numpy as np
    >>> from snellen.explain import overlay
    >>> overlay(np.zeros((8, 8, 3), np.uint8), np.eye(8)).shape
    (8, 8, 3)
    """
    pixels, values = (np.asarray(array.cpu() if hasattr(array, "cpu") else array) for array in (image, heat))
    if pixels.shape[-1] != 3:
        pixels = pixels.transpose(1, 2, 0)
    whole = np.issubdtype(values.dtype, np.unsignedinteger)
    values = values / np.iinfo(values.dtype).max if whole else np.clip(values, 0, 1).astype(float)
    if values.shape != pixels.shape[:2]:
        raise ValueError(f"expected a map of {list(pixels.shape[:2])}, got {list(values.shape)}")
    steps = np.linspace(0, 1, len(COLOURS))
    colour = np.stack([np.interp(values, steps, channel) for channel in COLOURS.T], 2)
    share = STRENGTH * values[:, :, None] ** 0.5
    return np.rint(pixels * (1 - share) + colour * share).astype(np.uint8)


def outline(picture: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The picture uint8 [H, W, 3] with the edge of a mask bool [H, W], the pixels inside that touch the outside, in white."""
    padded = np.pad(mask, 1)
    core = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return np.where((mask & ~core)[:, :, None], np.uint8(255), picture)


def frame(picture: np.ndarray, box: Sequence[float], colour: tuple[int, int, int], width: int = 1) -> np.ndarray:
    """The picture uint8 [H, W, 3] with the edge of a box x0, y0, x1, y1 (maximum exclusive), `width` pixels inside it."""
    height, across = picture.shape[:2]
    x0, y0, x1, y1 = (int(np.clip(round(edge), 0, most)) for edge, most in zip(box, (across, height, across, height)))
    edge = np.zeros((height, across), bool)
    edge[y0:y1, x0:x1] = True
    edge[y0 + width : max(y1 - width, 0), x0 + width : max(x1 - width, 0)] = False
    return np.where(edge[:, :, None], np.array(colour, np.uint8), picture)
