"""The textures of the phantom world: nine patterns, drawn once as tiles that wrap around, then looked up."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from snellen.data.phantom.fixed import TURN, blurred, noise, sine

TILE = 256  # cells along a tile
REPEAT = 64  # cells along one repeat of a pattern
TOP = 255  # the tone of the second colour; 0 is the first

Pattern = Callable[[np.ndarray, np.ndarray], np.ndarray]


def plain(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.zeros_like(x + y)


def stripes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x + y) % REPEAT < REPEAT // 2


def checks(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x % REPEAT < REPEAT // 2) ^ (y % REPEAT < REPEAT // 2)


def dots(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Discs, every second row shifted by half a repeat."""
    across = (x + (y // REPEAT % 2) * REPEAT // 2) % REPEAT - REPEAT // 2
    return across**2 + (y % REPEAT - REPEAT // 2) ** 2 < 21**2


def zigzag(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (y + abs(x % REPEAT - REPEAT // 2) * 3 // 2) % REPEAT < REPEAT // 2


def waves(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (y + sine(x * TURN // 128) // 800) % REPEAT < REPEAT // 2


def bricks(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Joints of the second colour between bricks of the first."""
    course = y // (REPEAT // 2)
    return (y % (REPEAT // 2) < 9) | ((x + course % 2 * REPEAT // 2) % REPEAT < 9)


def rings(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Targets: rings around a point every two repeats."""
    squared = (x % 128 - 64) ** 2 + (y % 128 - 64) ** 2
    return np.sqrt(squared).astype(np.int64) % 32 < 16


def blobs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return noise("blobs", 8, 8, (TILE, TILE)) > 128


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
}


@lru_cache(maxsize=4)
def tiles(blur: int) -> np.ndarray:
    """Every texture as tones 0 to TOP, uint8 [textures, TILE, TILE], edges softened over `blur` cells."""
    cells = np.arange(TILE, dtype=np.int64)
    drawn = [pattern(cells[None, :], cells[:, None]).astype(np.int64) * TOP for pattern in TEXTURES.values()]
    return np.stack([blurred(tones, blur) for tones in drawn]).astype(np.uint8)
