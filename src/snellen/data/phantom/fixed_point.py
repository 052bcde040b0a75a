"""Fixed-point drawing: sine, noise and blur in whole numbers, so that no floating rounding decides a pixel."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from snellen.data.phantom.draws import mixed, word_key

ONE = 1 << 14  # the side of an image, and the 1.0 of sine and cosine
TURN = 4096  # steps in a full turn


@lru_cache(maxsize=1)
def _sine_table() -> np.ndarray:
    return np.array([round(ONE * math.sin(2 * math.pi * step / TURN)) for step in range(TURN)], np.int64)


def sine(steps: np.ndarray) -> np.ndarray:
    """ONE · sin of angles in steps of 1/4096 turn, int64."""
    return _sine_table()[np.asarray(steps) & (TURN - 1)]


def cosine(steps: np.ndarray) -> np.ndarray:
    """ONE · cos of angles in steps of 1/4096 turn, int64."""
    return sine(np.asarray(steps) + TURN // 4)


def wave(steps: np.ndarray) -> np.ndarray:
    """A sine between 0 and 255 of angles in steps of 1/4096 turn, int64."""
    return (sine(steps) + ONE) * 255 // (2 * ONE)


def scattered(name: str, *cells: np.ndarray | int) -> np.ndarray:
    """A random byte for each whole-number address, such as the brick in a row and column; the same for each name."""
    keys = word_key(name)
    for cell in cells:
        keys = mixed(keys ^ np.asarray(cell).astype(np.int64).view(np.uint64))
    return (keys >> np.uint64(56)).astype(np.int64)


def speckled(name: str, pitch: int, radius: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where round specks lie, bool [H, W]: one in each square of `pitch` cells, of any radius up to `radius`."""
    row, column = y // pitch, x // pitch
    room = pitch - 2 * radius
    off_x = x % pitch - radius - scattered(f"{name} x", row, column) * room // 255
    off_y = y % pitch - radius - scattered(f"{name} y", row, column) * room // 255
    return off_x**2 + off_y**2 < scattered(name, row, column) * radius**2 // 255


def noise(name: str, rows: int, columns: int, shape: tuple[int, int]) -> np.ndarray:
    """Smooth noise 0 to 255 [H, W] that wraps around: random bytes on a lattice, eased in between."""
    lattice = scattered(name, np.arange(rows)[:, None], np.arange(columns)[None, :])
    down = _eased(lattice, shape[0])
    return _eased(down.T, shape[1]).T


def clouds(name: str, rows: int, columns: int, shape: tuple[int, int]) -> np.ndarray:
    """Three octaves of noise, 0 to 255 [H, W]: billows with ragged edges."""
    parts = [noise(f"{name}{octave}", rows << octave, columns << octave, shape) for octave in range(3)]
    return (4 * parts[0] + 2 * parts[1] + parts[2]) // 7


def _eased(values: np.ndarray, length: int) -> np.ndarray:
    """Values [n, …] stretched to `length` along the first axis with smoothstep weights, wrapping at the end."""
    position = np.arange(length) * (len(values) * 256) // length
    cell, part = position >> 8, position & 255
    weight = (part * part * (768 - 2 * part) >> 16).reshape(-1, *[1] * (values.ndim - 1))
    return (values[cell] * (256 - weight) + values[(cell + 1) % len(values)] * weight) >> 8


def ramp(values: np.ndarray, low: int, high: int) -> np.ndarray:
    """0 to 255 as values rise from low to high, held outside."""
    return np.clip((values - low) * 255 // (high - low), 0, 255)


def blurred(tones: np.ndarray, width: int) -> np.ndarray:
    """Tones 0 to 255 [H, W] averaged over a square of up to 256 cells a side, wrapping around: uint16 [H, W]."""
    tones = tones.astype(np.uint16)  # holds 256 tones, in a quarter of the memory
    for axis in (0, 1):
        total = np.full_like(tones, width // 2)  # so that the division rounds
        for shift in range(width):
            total += np.roll(tones, shift - width // 2, axis)
        tones = total // np.uint16(width)
    return tones
