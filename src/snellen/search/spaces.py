"""Spaces of transformations: which edits a search may combine, and at which levels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from snellen.errors import unknown
from snellen.files import expand_home

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
        return sum(len(transformation.levels) for transformation in self.transformations)

    @property
    def versions(self) -> dict[str, str]:
        """By text, the versions of the edits whose pixels have changed since their first one; mostly none."""
        return edit_versions(tuple(text for transformation in self.transformations for text in transformation.levels))

    def outline(self) -> str:
        """Its size and what it is made of, in one line."""
        kinds = ", ".join(
            f"{transformation.name} {len(transformation.levels)}" for transformation in self.transformations
        )
        return f"{self.size:,} edits: {kinds}"

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
        for kind, transformation in enumerate(self.transformations):
            if number < len(transformation.levels):
                return kind, number
            number -= len(transformation.levels)
        raise AssertionError("a number below the size is one of the levels")


@functools.lru_cache(maxsize=64)
def edit_versions(texts: tuple[str, ...]) -> dict[str, str]:
    """By text, the versions of those edits that are not at their first."""
    from snellen.distort import parse

    versions = {text: str(parse(text).version) for text in texts}
    return {text: version for text, version in versions.items() if version != "1"}


def levels_of(name: str, levels: Sequence[float | int], template: str = "") -> Transformation:
    """A transformation at these levels: of its one parameter, or of what is `{}` in a template such as `shift({}, 0)`."""
    template = template or f"{name}({{}})"
    return Transformation(name, tuple(template.replace("{}", repr(level)) for level in levels))


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


def extended(name: str, below: Space) -> Space:
    """Another set and more: geometry, blur, JPEG, noise and coarser colours, each at 10 levels or more where it can have them
    (`posterize` has seven that change anything, `equalize` and `invert` have none)."""
    small, slants = np.round(spread(-0.2, 0.2, 16), 4).tolist(), np.round(spread(-19, 19, 20), 4).tolist()
    return Space(
        name,
        (
            *below.transformations,
            levels_of("rotate", np.round(spread(-28.5, 28.5, 20), 4).tolist()),
            levels_of("shift_x", small, "shift({}, 0)"),
            levels_of("shift_y", small, "shift(0, {})"),
            levels_of("shear_x", slants, "shear({}, 0)"),
            levels_of("shear_y", slants, "shear(0, {})"),
            levels_of("zoom", np.round(np.geomspace(0.7, 1 / 0.7, 20), 4).tolist()),
            levels_of("blur", np.round(spread(0.3, 2.2, 20), 4).tolist()),
            levels_of("jpeg", list(range(5, 100, 5))),
            levels_of("noise", np.round(spread(0.01, 0.15, 15), 4).tolist()),
            levels_of("posterize", list(range(1, 8))),
            Transformation("equalize", ("equalize()",)),
            Transformation("invert", ("invert()",)),
        ),
    )


SPACES: dict[str, Space] = {
    "mnist": published("mnist", (0.6, 1.4), 120, ("solarize", "grayscale")),
    "cifar10": published("cifar10", (0.8, 1.2), 30, ()),
    "camvid": published("camvid", (0.8, 1.2), 120, ()),
    "faces": published("faces", (0.8, 1.2), 120, ("grayscale",)),
}
SPACES["extended"] = extended("extended", SPACES["mnist"])


def space(source: str | Path | Space) -> Space:
    """A set by its name (`mnist`, `cifar10`, `camvid`, `faces`: Volpi & Murino 2019, table 6; `extended`), or a user's own from
    a YAML file; a space passes through.

    >>> from snellen.search import space
    >>> letters = space("mnist")
    >>> letters.name, letters.size, [edit.name for edit in letters.transformations][:2]
    ('mnist', 211, ['autocontrast', 'brightness'])
    """
    from snellen.search.space_file import read_space

    if isinstance(source, Space):
        return source
    if isinstance(source, Path) or source.endswith((".yaml", ".yml")):
        return read_space(expand_home(source))
    if source not in SPACES:
        raise unknown("space", source, [*SPACES, "FILE.yaml"])
    return SPACES[source]
