"""The scenes of the phantom world: nine panoramas, drawn once; an image shows a window of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from snellen.data.phantom.fixed import TURN, blurred, clouds, noise, ramp, scattered, sine, wave

UNIT = 256  # cells along the side of a window of nominal size
HEIGHT, WIDTH = 384, 1024  # cells of a panorama
ALL = (HEIGHT, WIDTH)
MARGIN = 8  # cells along its edges that no window shows, where the blur wraps around
SKYLINE = 190  # the row of the horizon, in every window

Colour = tuple[int, int, int]
Panorama = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Scene(NamedTuple):
    """A background: its tone 0 to 255 at column x and row y, and the colours of tones 0, 85, 170 and 255."""

    panorama: Panorama
    colours: tuple[Colour, Colour, Colour, Colour]


def sky(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Blue, paler towards the ground, with heaps of cloud."""
    billow = ramp(clouds("sky", 4, 8, ALL), 125, 175)
    clear = y * 150 // HEIGHT
    return clear + (255 - clear) * billow // 255


def meadow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Slanting blades over lighter and darker patches."""
    lean = (x + y // 2 + sine(y * TURN // 160) // 3000) * TURN // 24
    blades = wave(lean + noise("meadow", 8, 64, ALL) * 20)
    return (blades + 2 * noise("patches", 6, 16, ALL)) // 3


def wall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Bricks of many reds between pale joints."""
    course = y // 32
    along = x + course % 2 * 32
    joint = (y % 32 < 5) | (along % 64 < 5)
    return np.where(joint, 255, scattered("wall", course, along // 64) * 170 // 255)


def water(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ripples that widen towards the viewer, with glints."""
    ripple = wave(y * TURN * 6 // UNIT * 600 // (400 + y) + noise("swell", 12, 24, ALL) * 12)
    return ripple * (100 + noise("glint", 24, 24, ALL) * 155 // 255) // 255


def desert(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Dunes: each crest is lit on one side and falls into shadow on the other."""
    rise = y * 3 + sine(x * TURN // 512) // 260 + sine(x * TURN // 341 + y * 4) // 500
    return 255 - rise % 300 * 255 // 300


def night(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Stars over black hills."""
    cell_y, cell_x = y // 32, x // 32
    off_x = x % 32 - 8 - scattered("star x", cell_y, cell_x) // 16
    off_y = y % 32 - 8 - scattered("star y", cell_y, cell_x) // 16
    star = off_x**2 + off_y**2 < (scattered("star", cell_y, cell_x) - 100) // 6
    hills = y > 290 + sine(x * TURN // 512) // 700 + sine(x * TURN // 256 + 900) // 1400
    return np.where(hills, 0, np.where(star, 255, 40 + y * 110 // HEIGHT))


def forest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Two rows of trunks before light between the leaves, on dark ground."""
    tone = 255 - y * 60 // HEIGHT - clouds("leaves", 6, 16, ALL) // 4
    for pitch, shade, foot in ((48, 120, 270), (80, 20, 320)):
        tree = x // pitch
        width = pitch // 4 + scattered("width", tree, pitch) * pitch // 800
        place = scattered("place", tree, pitch) * (pitch - width) // 255
        trunk = (x % pitch >= place) & (x % pitch < place + width)
        tone = np.where(trunk & (y < foot), shade, np.where(y >= foot, shade + 20, tone))
    return tone


def floor(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A chequered floor that pales towards the horizon, below a plain wall."""
    depth = np.maximum(y - SKYLINE + 14, 1)
    across = (x - WIDTH // 2) * 100 // depth + 10_000
    away = 9000 // depth
    check = (across // 50 + away // 50) % 2 * 2 - 1
    return np.where(y < SKYLINE, 110 + y * 40 // SKYLINE, 128 + check * ramp(depth, 10, 60) // 2)


def mountains(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Three ridges, darker the nearer, before an evening sky."""
    tone = 255 - y * 60 // HEIGHT + 0 * x
    for ridge, (base, jag, shade) in enumerate(((150, 7, 150), (220, 11, 85), (290, 5, 20))):
        line = noise(f"ridge{ridge}", 1, 2 * jag + 4, (1, WIDTH)) + noise(f"crag{ridge}", 1, 6 * jag, (1, WIDTH)) // 3
        tone = np.where(y > base - 50 + line * 100 // 340, shade, tone)
    return tone


SCENES: dict[str, Scene] = {
    "sky": Scene(sky, ((38, 92, 178), (86, 148, 214), (160, 204, 236), (248, 250, 252))),
    "meadow": Scene(meadow, ((22, 66, 24), (52, 112, 34), (98, 158, 52), (170, 204, 92))),
    "wall": Scene(wall, ((112, 44, 34), (142, 62, 46), (172, 86, 64), (206, 196, 182))),
    "water": Scene(water, ((8, 58, 84), (18, 98, 124), (52, 148, 164), (186, 228, 226))),
    "desert": Scene(desert, ((134, 92, 52), (180, 134, 82), (212, 172, 116), (238, 212, 164))),
    "night": Scene(night, ((6, 6, 14), (16, 18, 50), (44, 40, 92), (244, 240, 214))),
    "forest": Scene(forest, ((40, 28, 20), (58, 62, 36), (116, 142, 84), (206, 222, 160))),
    "floor": Scene(floor, ((58, 54, 66), (128, 118, 128), (168, 158, 160), (218, 212, 206))),
    "mountains": Scene(mountains, ((44, 30, 66), (96, 62, 106), (180, 104, 112), (250, 190, 126))),
}


@lru_cache(maxsize=4)
def panoramas(blur: int) -> np.ndarray:
    """Every scene as tones, uint8 [scenes, HEIGHT, WIDTH], edges softened over `blur` cells."""
    x, y = np.arange(WIDTH, dtype=np.int64)[None, :], np.arange(HEIGHT, dtype=np.int64)[:, None]
    drawn = [np.broadcast_to(scene.panorama(x, y), (HEIGHT, WIDTH)) for scene in SCENES.values()]
    return np.stack([blurred(np.clip(tones, 0, 255), blur) for tones in drawn]).astype(np.uint8)
