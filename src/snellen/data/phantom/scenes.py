"""The scenes of the phantom world: twelve panoramas, drawn once; an image shows a window of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from snellen.data.phantom.fixed_point import TURN, blurred, clouds, noise, ramp, scattered, sine, speckled, wave

UNIT = 256  # cells along the side of a window of nominal size
HEIGHT, WIDTH = 384, 1024  # cells of a panorama
ALL = (HEIGHT, WIDTH)
MARGIN = 8  # cells along its edges that no window shows, where the blur wraps around
SKYLINE = 190  # the row of the horizon, in every window

Rgb = tuple[int, int, int]
Panorama = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Scene(NamedTuple):
    """A background: its tone 0 to 255 at column x and row y, and the colours of tones 0, 85, 170 and 255."""

    panorama: Panorama
    colours: tuple[Rgb, Rgb, Rgb, Rgb]


def sky(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Blue, paler towards the ground, with heaps of cloud."""
    billow = ramp(clouds("sky", 4, 8, ALL), 125, 175)
    clear = y * 150 // HEIGHT
    return clear + (255 - clear) * billow // 255


def meadow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Slanting blades over lighter and darker patches, with yellow flowers among them."""
    lean = (x + y // 2 + sine(y * TURN // 160) // 3000) * TURN // 24
    blades = wave(lean + noise("meadow", 8, 64, ALL) * 20)
    grass = (blades + 2 * noise("patches", 6, 16, ALL)) * 200 // (3 * 255)
    return np.where(speckled("flower", 64, 9, x, y), 255, grass)


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
    hills = y > 245 + sine(x * TURN // 512) // 600 + sine(x * TURN // 205 + 900) // 1100
    return np.where(hills, 0, np.where(speckled("star", 48, 7, x, y), 255, 40 + y * 110 // HEIGHT))


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
    """A chequered floor before a papered wall with a white skirting board."""
    depth = np.maximum(y - SKYLINE + 60, 1)
    across = (x - WIDTH // 2) * 100 // depth + 10_000
    away = 9000 // depth
    check = (across // 40 + away // 20) % 2
    paper = 110 + 35 * (x % 64 < 32)
    return np.where(y < SKYLINE - 16, paper, np.where(y < SKYLINE, 255, check * 225))


def mountains(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Three ridges, darker the nearer, before an evening sky."""
    tone = 255 - y * 60 // HEIGHT + 0 * x
    for ridge, (base, jag, shade) in enumerate(((150, 7, 150), (220, 11, 85), (290, 5, 20))):
        line = noise(f"ridge{ridge}", 1, 2 * jag + 4, (1, WIDTH)) + noise(f"crag{ridge}", 1, 6 * jag, (1, WIDTH)) // 3
        tone = np.where(y > base - 50 + line * 100 // 340, shade, tone)
    return tone


def city(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Two rows of towers before a pale evening sky, windows lit in the nearer."""
    tone = 160 + y * 20 // HEIGHT + 0 * x
    for pitch, shade, top in ((56, 95, 90), (88, 20, 150)):
        tower, across = (x + 20) // pitch, (x + 20) % pitch
        down = y - top - scattered("roof", tower, pitch) * 80 // 255
        tone = np.where((across < pitch - 12) & (down >= 0), shade, tone)
    pane = (across % 24 > 9) & (across < 72) & (down > 12) & (down % 32 > 14)
    lit = scattered("lit", tower, across // 24, down // 32) > 90
    return np.where(pane & lit, 255, tone)


def reef(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Shafts of light in deep water above fingers of coral."""
    shafts = wave((3 * x + 2 * y) * TURN // 420 + noise("shafts", 2, 6, ALL) * 12)
    tone = 240 - y * 130 // HEIGHT - (255 - shafts) * (HEIGHT - y) // (3 * HEIGHT)
    for pitch, shade, top in ((26, 55, 165), (38, 0, 205)):
        finger, across = x // pitch, x % pitch - pitch // 2
        half = pitch * 2 // 5
        tip = top + scattered("finger", finger, pitch) * 70 // 255
        down = np.minimum(y - tip - half, 0)  # 0 below the rounded end
        tone = np.where(y > top + 80, shade + 45, tone)
        tone = np.where(across**2 + down**2 < half**2, shade + 35 * across**2 // half**2, tone)
    return tone


def snow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Two rows of pines on white slopes under a grey sky."""
    tone = 120 + y * 50 // HEIGHT + 0 * x
    for pitch, shade, ground in ((48, 60, 215), (112, 0, 275)):
        slope = ground + sine(x * TURN // 512 + pitch * 30) // 900
        tone = np.where(y > slope, 255 - (y - slope) // 3, tone)
        tree = x // pitch
        trunk = pitch // 2 + (scattered("trunk", tree, pitch) - 128) * pitch // 1600
        height = pitch + scattered("pine", tree, pitch) * pitch // 480
        down = y - ground - 14 + height
        branches = down // 8 + down % (height // 3) // 2
        tone = np.where((abs(x % pitch - trunk) < branches) & (down >= 0) & (down < height), shade, tone)
    return tone


SCENES: dict[str, Scene] = {
    "sky": Scene(sky, ((38, 92, 178), (86, 148, 214), (160, 204, 236), (248, 250, 252))),
    "meadow": Scene(meadow, ((22, 66, 24), (58, 118, 36), (132, 182, 68), (248, 228, 96))),
    "wall": Scene(wall, ((112, 44, 34), (142, 62, 46), (172, 86, 64), (206, 196, 182))),
    "water": Scene(water, ((8, 58, 84), (18, 98, 124), (52, 148, 164), (186, 228, 226))),
    "desert": Scene(desert, ((134, 92, 52), (180, 134, 82), (212, 172, 116), (238, 212, 164))),
    "night": Scene(night, ((6, 6, 14), (16, 18, 50), (44, 40, 92), (244, 240, 214))),
    "forest": Scene(forest, ((40, 28, 20), (58, 62, 36), (116, 142, 84), (206, 222, 160))),
    "floor": Scene(floor, ((58, 54, 66), (128, 118, 128), (168, 158, 160), (218, 212, 206))),
    "mountains": Scene(mountains, ((44, 30, 66), (96, 62, 106), (180, 104, 112), (250, 190, 126))),
    "city": Scene(city, ((30, 34, 44), (88, 98, 112), (168, 178, 180), (255, 218, 112))),
    "reef": Scene(reef, ((232, 96, 92), (22, 40, 120), (34, 118, 198), (170, 226, 250))),
    "snow": Scene(snow, ((20, 62, 48), (98, 130, 134), (186, 202, 214), (250, 252, 255))),
}


@lru_cache(maxsize=4)
def panoramas(blur: int) -> np.ndarray:
    """Every scene as tones, uint8 [scenes, HEIGHT, WIDTH], edges softened over `blur` cells."""
    x, y = np.arange(WIDTH, dtype=np.int64)[None, :], np.arange(HEIGHT, dtype=np.int64)[:, None]
    tones_of_scenes = [np.broadcast_to(scene.panorama(x, y), (HEIGHT, WIDTH)) for scene in SCENES.values()]
    return np.stack([blurred(np.clip(tones, 0, 255), blur) for tones in tones_of_scenes]).astype(np.uint8)
