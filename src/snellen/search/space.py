"""Spaces of transformations: which edits a search may combine, and at which levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from snellen.errors import unknown

Gene: TypeAlias = tuple[int, int]  # the number of a transformation, and of one of its levels
Genes: TypeAlias = tuple[Gene, ...]
GeneLaw = Literal["type", "object"]


@dataclass(frozen=True)
class Transformation:
    """One kind of edit and its levels, each the text of a distortion."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Space:
    """The transformations that tuples are made of."""

    name: str
    transformations: tuple[Transformation, ...]

    @property
    def size(self) -> int:
        """How many different transformations there are, levels counted."""
        return sum(len(one.levels) for one in self.transformations)

    def texts(self, genes: Genes) -> tuple[str, ...]:
        """The edits of a tuple as texts of distortions, from left to right."""
        return tuple(self.transformations[kind].levels[level] for kind, level in genes)

    def draw(self, random: np.random.Generator, length: int, law: GeneLaw = "type") -> Genes:
        """A random tuple."""
        return tuple(self.draw_gene(random, law) for _ in range(length))

    def draw_gene(self, random: np.random.Generator, law: GeneLaw = "type") -> Gene:
        """A random edit: by `type` first a transformation, then one of its levels, all equally likely, as the published code
        does; by `object` one of all levels of all transformations, as Volpi & Murino (2019) write."""
        if law == "type":
            kind = int(random.integers(len(self.transformations)))
            return kind, int(random.integers(len(self.transformations[kind].levels)))
        number = int(random.integers(self.size))
        for kind, one in enumerate(self.transformations):
            if number < len(one.levels):
                return kind, number
            number -= len(one.levels)
        raise AssertionError("a number below the size is one of the levels")


def levels_of(name: str, levels: Sequence[float | int]) -> Transformation:
    """A transformation of one parameter, at these levels."""
    return Transformation(name, tuple(f"{name}({level!r})" for level in levels))


def spread(low: float, high: float, count: int) -> list[float]:
    """`count` numbers from low to high, both included."""
    return np.linspace(low, high, count).tolist()


def whole_spread(low: float, high: float, count: int) -> list[int]:
    """The same as whole numbers, cut towards 0."""
    return [int(level) for level in np.linspace(low, high, count)]


def published(name: str, enhancement: tuple[float, float], shift: int, extra: tuple[str, ...]) -> Space:
    """A set of Volpi & Murino (2019), table 6."""
    shifts = whole_spread(-shift, shift, 30)
    more = {
        "solarize": levels_of("solarize", whole_spread(0, 20, 20)),
        "grayscale": Transformation("grayscale", ("grayscale()",)),
    }
    return Space(
        name,
        (
            levels_of("autocontrast", spread(0, 0.3, 20)),
            levels_of("brightness", spread(*enhancement, 20)),
            *(levels_of(kind, spread(0.6, 1.4, 20)) for kind in ("colour", "contrast", "sharpness")),
            *(more[kind] for kind in extra),
            *(levels_of(kind, shifts) for kind in ("red", "green", "blue")),
        ),
    )


SPACES: dict[str, Space] = {
    "mnist": published("mnist", (0.6, 1.4), 120, ("solarize", "grayscale")),
    "cifar10": published("cifar10", (0.8, 1.2), 30, ()),
    "camvid": published("camvid", (0.8, 1.2), 120, ()),
    "faces": published("faces", (0.8, 1.2), 120, ("grayscale",)),
}


def space(name: str) -> Space:
    """The space of a name."""
    if name not in SPACES:
        raise unknown("space", name, SPACES)
    return SPACES[name]
