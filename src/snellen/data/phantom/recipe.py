"""What each image shows, drawn without rendering it: cheap enough to list a dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.draws import Draws
from snellen.data.phantom.fixed import ONE, TURN
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES

DIAMETER = (ONE * 50 // 100, ONE * 80 // 100)  # of the circle around an object, least and most
TILT = TURN * 25 // 360  # the most that an object is turned either way


@dataclass(frozen=True)
class Recipe:
    """The facts of some images, int64 [B] each.

    `label`, `texture`, `scene` are positions in their tables; `diameter` of the circle around the object and its
    centre `x`, `y` are in 1/16384 of the image side; `turn` is in 1/4096 of a full turn, clockwise.
    """

    draws: Draws
    label: np.ndarray
    texture: np.ndarray
    scene: np.ndarray
    diameter: np.ndarray
    x: np.ndarray
    y: np.ndarray
    turn: np.ndarray


def recipe(indices: np.ndarray, draws: Draws, background_bias: float, texture_bias: float) -> Recipe:
    """The recipe of the images at `indices`, whose draws are given.

    Every draw has its own name, so a dial changes only what it is about: raising `background_bias` moves some images
    to their class's own scene and leaves the rest, and every object, as it was.
    """
    label = np.asarray(indices, np.int64) % len(SHAPES)
    diameter = draws.whole("diameter", *DIAMETER)
    low, high = (diameter + 1) // 2, ONE - (diameter + 1) // 2
    return Recipe(
        draws,
        label,
        texture=own_or_any(draws, "texture", label, len(TEXTURES), texture_bias),
        scene=own_or_any(draws, "scene", label, len(SCENES), background_bias),
        diameter=diameter,
        x=draws.whole("x", low, high),
        y=draws.whole("y", low, high),
        turn=draws.whole("turn", -TILT, TILT),
    )


def own_or_any(draws: Draws, name: str, label: np.ndarray, kinds: int, bias: float) -> np.ndarray:
    """With probability `bias` the kind of the class's own number, else any, uniformly."""
    return np.where(draws.chance(f"own {name}", bias), label % kinds, draws.whole(f"any {name}", 0, kinds - 1))
