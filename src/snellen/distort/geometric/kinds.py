"""Rotation, shift, shear and zoom: each an affine map about the middle of the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from snellen.distort.geometric.affine import Affine
from snellen.distort.geometric.stage import Geometric
from snellen.distort.law import Law, expect_within, in_numbers, percent_in_words
from snellen.distort.view import View


@dataclass(frozen=True)
class Rotate(Geometric):
    """Turn the image about its middle by `degrees`, anticlockwise; what comes in at the corners is mirrored.

    `degrees` is −360 to 360, or a law of it per image.
    """

    degrees: float | Law = 15.0
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"degrees": 0}

    def __post_init__(self) -> None:
        expect_within("degrees", self.degrees, -360, 360)

    def affine(self, height: int, width: int, view: View) -> Affine:
        angle = np.radians(view.distinct("degrees", self.degrees))
        return Affine.of(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))))

    def words(self) -> str:
        return f"turned by {_angle(self.degrees)}"


@dataclass(frozen=True)
class Shift(Geometric):
    """Move the image to the right by `x` of its width and down by `y` of its height; what comes in is mirrored.

    Both are −1 to 1, or laws of it per image. Whole pixels are moved without interpolation.
    """

    x: float | Law = 0.1
    y: float | Law = 0.0
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"x": 0, "y": 0}

    def __post_init__(self) -> None:
        for name, value in (("x", self.x), ("y", self.y)):
            expect_within(name, value, -1, 1)

    def affine(self, height: int, width: int, view: View) -> Affine:
        x, y = np.broadcast_arrays(view.distinct("x", self.x) * width, view.distinct("y", self.y) * height)
        return Affine(np.broadcast_to(np.eye(2), (len(x), 2, 2)), np.stack([x, y], -1))

    def words(self) -> str:
        return f"moved by {percent_in_words(self.x)} across and {percent_in_words(self.y)} down"


@dataclass(frozen=True)
class Shear(Geometric):
    """Slant the image about its middle: upright lines by `x` degrees, level lines by `y`; what comes in is mirrored.

    With a positive `x` the lower half moves to the right, with a positive `y` the right half moves down. Both are −40 to 40
    degrees, or laws of it per image.
    """

    x: float | Law = 15.0
    y: float | Law = 0.0
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"x": 0, "y": 0}

    def __post_init__(self) -> None:
        for name, value in (("x", self.x), ("y", self.y)):  # at 45° both ways the plane would become a line
            expect_within(name, value, -40, 40)

    def affine(self, height: int, width: int, view: View) -> Affine:
        x, y = np.broadcast_arrays(
            *(np.tan(np.radians(view.distinct(name, value))) for name, value in (("x", self.x), ("y", self.y)))
        )
        return Affine.of(((np.ones_like(x), x), (y, np.ones_like(y))))

    def words(self) -> str:
        return f"slanted by {_angle(self.x)} across and {_angle(self.y)} down"


@dataclass(frozen=True)
class Zoom(Geometric):
    """Magnify the image about its middle by `factor`; below 1 it shrinks, and what comes in around it is mirrored.

    `factor` is 0.1 to 10, or a law of it per image. Shrinking does not smooth first: fine texture may alias.
    """

    factor: float | Law = 1.2
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"factor": 1}

    def __post_init__(self) -> None:
        expect_within("factor", self.factor, 0.1, 10)

    def affine(self, height: int, width: int, view: View) -> Affine:
        factor = view.distinct("factor", self.factor)
        none = np.zeros_like(factor)
        return Affine.of(((factor, none), (none, factor)))

    def words(self) -> str:
        return f"size × {in_numbers(self.factor) or 'drawn'}"


def _angle(degrees: float | Law) -> str:
    return f"{numbers}°" if (numbers := in_numbers(degrees).replace("-", "−")) else "a drawn angle"
