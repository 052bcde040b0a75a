"""The classes of the phantom world: nine silhouettes, drawn once and then looked up."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

GRID = 512  # cells along the square around a silhouette's circle
RADIUS = 1024  # of that circle, in the units of the formulas below; u runs right, v runs down
INSIDE, RIM = 1, 2

Silhouette = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Shape(NamedTuple):
    """A class: its parent in the class tree and which points (u, v) within the circle belong to it."""

    parent: str
    silhouette: Silhouette


def polygon(*corners: tuple[int, int]) -> Silhouette:
    """The inside of a polygon by the even-odd rule, in whole numbers."""

    def silhouette(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        inside = np.zeros(np.broadcast_shapes(u.shape, v.shape), bool)
        for (u0, v0), (u1, v1) in zip(corners, corners[1:] + corners[:1]):
            if v0 != v1:
                (ua, va), (ub, vb) = ((u0, v0), (u1, v1)) if v0 < v1 else ((u1, v1), (u0, v0))
                left = (u - ua) * (vb - va) < (ub - ua) * (v - va)
                inside ^= (v >= va) & (v < vb) & left
        return inside

    return silhouette


def disc(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u * u + v * v <= 880 * 880


def ring(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (u * u + v * v <= 980 * 980) & (u * u + v * v >= 500 * 500)


def crescent(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (u * u + v * v <= 1000 * 1000) & ((u - 500) ** 2 + v * v > 740 * 740)


def heart(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(x² + y² − 1)³ ≤ x² y³ with x, y in 1/256 and y up, shifted so that the circle is filled."""
    x, y = u * 320 // RADIUS, -(v - 60) * 320 // RADIUS
    return (x * x + y * y - 256 * 256) ** 3 <= x * x * y**3 * 256


square = polygon((-700, -700), (700, -700), (700, 700), (-700, 700))
triangle = polygon((0, -1000), (866, 500), (-866, 500))
star = polygon(
    *((0, -1010), (262, -361), (961, -312), (425, 138), (594, 817)),
    *((0, 447), (-594, 817), (-425, 138), (-961, -312), (-262, -361)),
)
cross = polygon(
    *((-310, -950), (310, -950), (310, -310), (950, -310), (950, 310), (310, 310)),
    *((310, 950), (-310, 950), (-310, 310), (-950, 310), (-950, -310), (-310, -310)),
)
arrow = polygon((-950, -300), (60, -300), (60, -800), (1010, 0), (60, 800), (60, 300), (-950, 300))

SHAPES: dict[str, Shape] = {
    "disc": Shape("round", disc),
    "ring": Shape("round", ring),
    "crescent": Shape("round", crescent),
    "square": Shape("polygon", square),
    "triangle": Shape("polygon", triangle),
    "star": Shape("angular", star),
    "cross": Shape("angular", cross),
    "arrow": Shape("angular", arrow),
    "heart": Shape("shape", heart),
}

NODES: dict[str, str] = {"round": "shape", "angular": "shape", "polygon": "angular"}


def class_tree() -> dict[str, str]:
    """Each class and inner node with its parent; the root is 'shape'."""
    return {**{name: shape.parent for name, shape in SHAPES.items()}, **NODES}


@lru_cache(maxsize=4)
def silhouettes(rim: int) -> np.ndarray:
    """Every class on the grid, uint8 [classes, GRID, GRID]: 0 outside, INSIDE, RIM up to `rim` cells from the edge."""
    centre = (2 * np.arange(GRID, dtype=np.int64) + 1) * RADIUS // GRID - RADIUS
    u, v = centre[None, :], centre[:, None]
    drawn = np.stack([shape.silhouette(u, v) for shape in SHAPES.values()])
    core = drawn.copy()
    diagonal = rim * 181 // 256
    for down, right in ((0, rim), (rim, 0), (diagonal, diagonal), (diagonal, -diagonal)):
        core &= np.roll(drawn, (down, right), (1, 2)) & np.roll(drawn, (-down, -right), (1, 2))
    return np.where(core, INSIDE, np.where(drawn, RIM, 0)).astype(np.uint8)


PARTS: tuple[str, ...] = ("scene", *(f"{name} {side}" for name in SHAPES for side in ("left", "right")))


@lru_cache(maxsize=1)
def parts() -> np.ndarray:
    """The part of every class at each cell of the grid, uint8 [classes, GRID, GRID]: 0 outside, else its number."""
    drawn = silhouettes(rim=8) > 0
    number = 1 + 2 * np.arange(len(SHAPES))[:, None, None] + (np.arange(GRID) >= GRID // 2)
    return np.where(drawn, number, 0).astype(np.uint8)
