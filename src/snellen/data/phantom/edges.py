"""Bars along the axes of the image, which mark one class by straight edges."""

from __future__ import annotations

import numpy as np

from snellen.data.phantom.draws import Draws
from snellen.data.phantom.fixed_point import ONE

BARS = ("first across", "second across", "first down", "second down")
THICK = ONE // 10  # half of it in the scene's darkest tone, half in its lightest: an edge on any scene
DARK, LIGHT = 0, 255


def barred(scenes: np.ndarray, draws: Draws) -> np.ndarray:
    """Scenes, tones uint8 [b, S, S], with two bars across and two down."""
    tones, size = scenes.copy(), scenes.shape[1]
    pixels = (2 * np.arange(size, dtype=np.int64) + 1) * ONE // (2 * size)
    for bar in BARS:
        length = draws.whole(f"{bar} length", ONE * 35 // 100, ONE * 75 // 100)
        start = draws.whole(f"{bar} start", 0, ONE - length)[:, None]
        edge = draws.whole(f"{bar} edge", THICK // 2, ONE - THICK // 2)[:, None]
        along = (pixels >= start) & (pixels < start + length[:, None])
        for tone, low, high in ((DARK, edge - THICK // 2, edge), (LIGHT, edge, edge + THICK // 2)):
            through = (pixels >= low) & (pixels < high)
            rows, columns = (through, along) if bar.endswith("across") else (along, through)
            tones[rows[:, :, None] & columns[:, None, :]] = tone
    return tones
