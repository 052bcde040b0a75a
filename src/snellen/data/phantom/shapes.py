"""The classes of the phantom world: twelve silhouettes and their parts, drawn once and then looked up."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from snellen.data.phantom.fixed_point import ONE, TURN, cosine, sine

GRID = 512  # cells along the square around a silhouette's circle
RADIUS = 1024  # of that circle, in the units of the formulas below; u runs right, v runs down
INSIDE, RIM = 1, 2
POINT = 1000  # how far the points of a star reach

Region = Callable[[np.ndarray, np.ndarray], np.ndarray]


class PhantomShape(NamedTuple):
    """A class: its parent in the class tree and which points (u, v) within the circle belong to it and to each part.

    A point that several parts claim belongs to the first of them; the last claims whatever is left.
    """

    parent: str
    silhouette: Region
    parts: dict[str, Region]


# Regions


def everywhere(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.ones(np.broadcast_shapes(u.shape, v.shape), bool)


def within(radius: int) -> Region:
    """A disc about the centre."""
    return lambda u, v: u * u + v * v <= radius * radius


def above(row: int) -> Region:
    return lambda u, v: np.broadcast_to(v < row, np.broadcast_shapes(u.shape, v.shape))


def right_of(column: int) -> Region:
    return lambda u, v: np.broadcast_to(u >= column, np.broadcast_shapes(u.shape, v.shape))


def polygon(*corners: tuple[int, int]) -> Region:
    """The inside of a polygon by the even-odd rule, in whole numbers."""

    def inside(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        hit = np.zeros(np.broadcast_shapes(u.shape, v.shape), bool)
        for (u0, v0), (u1, v1) in zip(corners, corners[1:] + corners[:1]):
            if v0 != v1:
                (ua, va), (ub, vb) = ((u0, v0), (u1, v1)) if v0 < v1 else ((u1, v1), (u0, v0))
                left = (u - ua) * (vb - va) < (ub - ua) * (v - va)
                hit ^= (v >= va) & (v < vb) & left
        return hit

    return inside


def star(points: int, inner: int) -> PhantomShape:
    """A star with a point at the top; `inner` is the radius of its core and of the corners between its points."""

    def silhouette(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        corner = np.arange(2 * points)
        radius, turn = np.where(corner % 2, inner, POINT), corner * TURN // (2 * points)
        across, down = radius * sine(turn) // ONE, -radius * cosine(turn) // ONE
        return polygon(*zip(across.tolist(), down.tolist()))(u, v)

    return PhantomShape("starry", silhouette, {"core": within(inner), "rays": everywhere})


def ring(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return within(980)(u, v) & ~within(500)(u, v)


def crescent(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return within(1000)(u, v) & ~within(740)(u - 500, v)


def heart(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(x² + y² − 1)³ ≤ x² y³ with x, y in 1/256 and y up, shifted so that the circle is filled."""
    x, y = u * 320 // RADIUS, -(v - 60) * 320 // RADIUS
    return (x * x + y * y - 256 * 256) ** 3 <= x * x * y**3 * 256


square = polygon((-700, -700), (700, -700), (700, 700), (-700, 700))
diamond = polygon((0, -700), (700, 0), (0, 700), (-700, 0))  # between the middles of the square's sides
triangle = polygon((0, -1000), (866, 500), (-866, 500))
upright = polygon((-310, -950), (310, -950), (310, 950), (-310, 950))
crossbar = polygon((-950, -310), (950, -310), (950, 310), (-950, 310))
arrow = polygon((-950, -300), (60, -300), (60, -800), (1010, 0), (60, 800), (60, 300), (-950, 300))


def cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return upright(u, v) | crossbar(u, v)


def crossing(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return upright(u, v) & crossbar(u, v)


# The classes

SHAPES: dict[str, PhantomShape] = {
    "disc": PhantomShape("round", within(880), {"middle": within(520), "border": everywhere}),
    "ring": PhantomShape("round", ring, {"upper half": above(0), "lower half": everywhere}),
    "crescent": PhantomShape(
        "round", crescent, {"upper horn": above(-460), "belly": above(460), "lower horn": everywhere}
    ),
    "square": PhantomShape("convex", square, {"middle": diamond, "corners": everywhere}),
    "triangle": PhantomShape("convex", triangle, {"peak": above(-200), "base": everywhere}),
    "star": star(5, 446),
    "cross": PhantomShape("concave", cross, {"centre": crossing, "upright": upright, "crossbar": everywhere}),
    "arrow": PhantomShape("concave", arrow, {"head": right_of(60), "shaft": everywhere}),
    "heart": PhantomShape(
        "shape",
        heart,
        {"tip": lambda u, v: ~above(150)(u, v), "right lobe": right_of(0), "left lobe": everywhere},
    ),
    "sparkle": star(4, 370),
    "hexagram": star(6, 577),
    "burst": star(8, 640),
}

NODES: dict[str, str] = {
    "round": "shape",
    "angular": "shape",
    "convex": "angular",
    "concave": "angular",
    "starry": "concave",
}

PARTS: tuple[str, ...] = tuple(f"{name} {part}" for name, shape in SHAPES.items() for part in shape.parts)


def class_tree() -> dict[str, str]:
    """Each class and inner node with its parent; the root is 'shape'."""
    return {**{name: shape.parent for name, shape in SHAPES.items()}, **NODES}


# The grid


def _axes() -> tuple[np.ndarray, np.ndarray]:
    """u [1, GRID] and v [GRID, 1] at the middle of each cell."""
    centre = (2 * np.arange(GRID, dtype=np.int64) + 1) * RADIUS // GRID - RADIUS
    return centre[None, :], centre[:, None]


@lru_cache(maxsize=4)
def silhouettes(rim: int) -> np.ndarray:
    """Every class on the grid, uint8 [classes, GRID, GRID]: 0 outside, INSIDE, RIM up to `rim` cells from the edge."""
    inside = np.stack([shape.silhouette(*_axes()) for shape in SHAPES.values()])
    core = inside.copy()
    diagonal = rim * 181 // 256
    for down, right in ((0, rim), (rim, 0), (diagonal, diagonal), (diagonal, -diagonal)):
        core &= np.roll(inside, (down, right), (1, 2)) & np.roll(inside, (-down, -right), (1, 2))
    return np.where(core, INSIDE, np.where(inside, RIM, 0)).astype(np.uint8)


@lru_cache(maxsize=1)
def parts() -> np.ndarray:
    """The part of each cell, uint8 [classes, GRID, GRID]: 0 outside, k inside the part PARTS[k − 1]."""
    sheets = np.zeros((len(SHAPES), GRID, GRID), np.uint8)
    number = 0
    for sheet, shape in zip(sheets, SHAPES.values()):
        free = shape.silhouette(*_axes())
        for region in shape.parts.values():
            number += 1
            sheet[free & region(*_axes())] = number
            free &= sheet == 0
    return sheets
