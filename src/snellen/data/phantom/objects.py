"""Things: the objects of the images, each a shape with a texture and a hue at a place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from snellen.data.phantom.draws import PhantomDraws
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES


@dataclass(frozen=True)
class Things:
    """Some things, int64 [T] each, ordered by slot and then by image.

    `image` is the row of the image that holds it; `shape` and `texture` are positions in their tables, `hue` one of
    len(SHAPES) hues; `diameter` of the circle around it and its centre `x`, `y` are in 1/16384 of the image side; `turn`
    is in 1/4096 of a full turn, clockwise; `slot` tells things of the same role in one image apart. `draws` are its own.
    """

    draws: PhantomDraws
    image: np.ndarray
    slot: np.ndarray
    shape: np.ndarray
    texture: np.ndarray
    hue: np.ndarray
    diameter: np.ndarray
    x: np.ndarray
    y: np.ndarray
    turn: np.ndarray

    def __len__(self) -> int:
        return len(self.image)

    def take(self, rows: np.ndarray | slice) -> Things:
        """Some of the things; `rows` are positions, a mask or a slice."""
        return Things(self.draws.take(rows), **{name: getattr(self, name)[rows] for name in _NUMBERS})

    def slots(self) -> list[slice]:
        """The things of each slot, of which no image has two; one slot at least, if only an empty one."""
        ends = np.searchsorted(self.slot, np.arange(self.slot.max(initial=0) + 2))
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def within(self, start: int, stop: int) -> slice:
        """Which things, all of one slot, are in the images start … stop − 1."""
        return slice(*np.searchsorted(self.image, (start, stop)))


_NUMBERS = tuple(f.name for f in fields(Things) if f.name != "draws")


def joined(groups: list[Things]) -> Things:
    """The things of several groups in a row, no longer ordered."""
    draws = PhantomDraws(np.concatenate([group.draws.keys for group in groups]))
    return Things(draws, **{name: np.concatenate([getattr(group, name) for group in groups]) for name in _NUMBERS})


def any_shape(draws: PhantomDraws) -> np.ndarray:
    """Any class, uniformly."""
    return draws.whole("any shape", 0, len(SHAPES) - 1)


def any_texture(draws: PhantomDraws) -> np.ndarray:
    """Any texture, uniformly."""
    return draws.whole("any texture", 0, len(TEXTURES) - 1)


def any_hue(draws: PhantomDraws) -> np.ndarray:
    """Any of the hues, of which there are as many as classes, uniformly."""
    return draws.whole("any hue", 0, len(SHAPES) - 1)
