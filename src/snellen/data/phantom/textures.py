"""The textures of the phantom world: twelve patterns, drawn once as tiles that wrap around, then looked up."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from snellen.data.phantom.fixed_point import TURN, blurred, noise, sine

TILE = 256  # cells along a tile
REPEAT = 64  # cells along one repeat of a pattern
TOP = 255  # the tone of the second colour; 0 is the first

Pattern = Callable[[np.ndarray, np.ndarray], np.ndarray]  # the tone at column x and row y


def plain(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.zeros_like(x + y)


def stripes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return TOP * ((x + y) % REPEAT < REPEAT // 2)


def checks(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return TOP * ((x % REPEAT < REPEAT // 2) ^ (y % REPEAT < REPEAT // 2))


def dots(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Discs, every second row shifted by half a repeat."""
    across = (x + (y // REPEAT % 2) * REPEAT // 2) % REPEAT - REPEAT // 2
    return TOP * (across**2 + (y % REPEAT - REPEAT // 2) ** 2 < 21**2)


def zigzag(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return TOP * ((y + abs(x % (2 * REPEAT) - REPEAT) * 3 // 2) % REPEAT < REPEAT // 2)


def waves(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return TOP * ((y + sine(x * TURN // 128) // 800) % REPEAT < REPEAT // 2)


def bricks(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Joints of the second colour between bricks of the first."""
    course = y // (REPEAT // 2)
    return TOP * ((y % (REPEAT // 2) < 9) | ((x + course % 2 * REPEAT // 2) % REPEAT < 9))


def rings(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Targets: rings around a point every two repeats."""
    squared = (x % 128 - 64) ** 2 + (y % 128 - 64) ** 2
    edges_passed = np.searchsorted([(16 * edge) ** 2 for edge in range(1, 6)], squared, side="right")
    return TOP * (edges_passed % 2 == 0)


def blobs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return TOP * (noise("blobs", 8, 8, (TILE, TILE)) > 128)


def tartan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Wide bands along and across, half way to the second colour except where they meet, with a thin line between them."""
    warp, weft = x % (2 * REPEAT), y % (2 * REPEAT)
    line = (abs(warp - 92) < 8) | (abs(weft - 92) < 8)
    return np.where(line, TOP, TOP * ((warp < 56) + 0 + (weft < 56)) // 2)


def scales(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows of discs with a border of the second colour, each row over the one below and half a disc along."""
    tone = np.zeros_like(x + y)
    for row in range(5, -2, -1):
        squared = ((x + row % 2 * REPEAT) % (2 * REPEAT) - REPEAT) ** 2 + (y - row * REPEAT) ** 2
        tone = np.where(squared < 70**2, TOP * (squared > 48**2), tone)
    return tone


def triangles(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows of triangles that stand side by side."""
    return TOP * (abs(x % REPEAT - REPEAT // 2) * 2 < y % REPEAT)


TEXTURES: dict[str, Pattern] = {
    "plain": plain,
    "stripes": stripes,
    "checks": checks,
    "dots": dots,
    "zigzag": zigzag,
    "waves": waves,
    "bricks": bricks,
    "rings": rings,
    "blobs": blobs,
    "tartan": tartan,
    "scales": scales,
    "triangles": triangles,
}


@lru_cache(maxsize=4)
def tiles(blur: int) -> np.ndarray:
    """Every texture as tones 0 to TOP, uint8 [textures, TILE, TILE], edges softened over `blur` cells."""
    cells = np.arange(TILE, dtype=np.int64)
    patterns = [pattern(cells[None, :], cells[:, None]) for pattern in TEXTURES.values()]
    return np.stack([blurred(tones, blur) for tones in patterns]).astype(np.uint8)
