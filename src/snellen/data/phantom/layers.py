"""A picture: a batch ready to be painted, as layers from the back to the front with their grids and colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from snellen.data.phantom.colours import ramps, scene_colours, thing_colours
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draw_list import CLUTTER, SceneList, clutter
from snellen.data.phantom.fixed_point import ONE
from snellen.data.phantom.grids import Grid, GridWindow, shape_grid, texture_grid
from snellen.data.phantom.marks import MAIN, OTHER, write
from snellen.data.phantom.objects import Things, joined
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.scenes import HEIGHT, MARGIN, UNIT, WIDTH

RIM_LIGHT = 90  # of 256: how bright a thing's edge is, so that it stands out from any scene
BLOCK = 1 << 16  # pixels painted at once

Role = Literal["clutter", "object", "occluder"]  # from the back to the front
ROLES: tuple[Role, ...] = ("clutter", "object", "occluder")


@dataclass(frozen=True)
class PhantomLayer:
    """Things of which no image has two, painted at once; `number`, int64 [T], is that of each thing in its image."""

    things: Things
    role: Role
    number: np.ndarray
    window: GridWindow
    shape: Grid
    texture: Grid


@dataclass(frozen=True)
class PhantomPicture:
    """A batch ready to be painted: its recipe, its layers from the back, and the colours, uint32 [ramps, TONES].

    An image's ramps start at `first`, int64 [B]: its scene's, then two for each thing by number, inside and rim.
    `window` are the rows and columns of the panorama that each scene shows.
    """

    recipe: SceneList
    size: int
    layers: tuple[PhantomLayer, ...]
    colours: np.ndarray
    first: np.ndarray
    window: tuple[np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.recipe.label)

    def blocks(self) -> Iterator[slice]:
        """The images in portions to be painted at once."""
        step = max(BLOCK // self.size**2, 1)
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))


def picture(recipe: SceneList, dials: Dials) -> PhantomPicture:
    """What is worked out for a whole batch before its pixels are painted."""
    count = np.zeros(len(recipe.label), np.int64)
    layers = layers_of("object", recipe.objects, dials, count)
    if dials.clutter > 0:
        layers += layers_of("clutter", clutter(recipe, dials), dials, count)
    if dials.occlusion > 0:
        layers += layers_of("occluder", occluders(recipe, dials), dials, count)
    first = np.cumsum(2 * count + 1) - (2 * count + 1)
    colours = colour_table(recipe, layers, first)
    layers.sort(key=lambda layer: ROLES.index(layer.role))
    return PhantomPicture(recipe, dials.size, tuple(layers), colours, first, scene_window(recipe, dials.size))


def layers_of(role: Role, things: Things, dials: Dials, count: np.ndarray) -> list[PhantomLayer]:
    """The layers of the things of a role, numbered on from the `count` of things in each image, which grows."""
    largest = int(dials.largest * ONE) * CLUTTER[1] // 100
    small = role == "clutter"
    window = GridWindow.around(things, dials.size, largest) if small else GridWindow.whole(things, dials.size)
    shape, texture = shape_grid(things, window), texture_grid(things, window)
    layers = []
    for part in things.slots():
        some = things.take(part)
        count[some.image] += 1
        layers.append(
            PhantomLayer(some, role, count[some.image], window.take(part), shape.take(part), texture.take(part))
        )
    return layers


def scene_window(recipe: SceneList, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows (as addresses) and columns [B, S] of each image's window on its panorama; half of them mirrored."""
    draws = recipe.draws
    pixels = (2 * np.arange(size, dtype=np.int64) + 1) * ONE // (2 * size)
    side = draws.whole("window side", UNIT * 85 // 100, UNIT * 115 // 100)
    left = draws.whole("window left", MARGIN, WIDTH - MARGIN - side)[:, None]
    top = draws.whole("window top", MARGIN, HEIGHT - MARGIN - side)[:, None]
    offset = pixels * side[:, None] // ONE
    across = np.where(draws.chance("window mirrored", 0.5)[:, None], side[:, None] - 1 - offset, offset)
    return (recipe.scene[:, None] * HEIGHT + top + offset) * WIDTH, left + across


def colour_table(recipe: SceneList, layers: Sequence[PhantomLayer], first: np.ndarray) -> np.ndarray:
    """The colour of every tone of every ramp, marked, packed in uint32 [ramps, TONES]."""
    things, number = joined([layer.things for layer in layers]), np.concatenate([layer.number for layer in layers])
    inside = first[things.image] + 2 * number - 1
    stops, codes = (
        np.empty((len(first) + 2 * len(number), 4, 3), np.int64),
        np.empty(len(first) + 2 * len(number), np.int64),
    )
    stops[first], codes[first] = scene_colours(recipe.draws, recipe.scene), recipe.scene
    stops[inside] = thing_colours(things)
    stops[inside + 1] = stops[inside] * RIM_LIGHT >> 8
    codes[inside] = codes[inside + 1] = np.where(number == 1, MAIN, OTHER) + things.texture
    return write(ramps(stops), codes[:, None])
