"""Painting: a pixel is a lookup of silhouette, texture and panorama, and one more of its colour.

What is known per image (grids, windows, colours) is worked out for the whole batch; the pixels then come in blocks that
stay in the processor's cache. Layers are painted from the back: scene, bars, clutter, object, occluder. Each writes, for
the pixels it covers, the address of their colour, so that what a pixel shows is still known at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from snellen.data.phantom.colours import TONES, ramps, scene_colours, thing_colours
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.edges import bars
from snellen.data.phantom.fixed import ONE
from snellen.data.phantom.grids import Grid, Window, outline, shape_grid, texture_grid, texture_tones
from snellen.data.phantom.marks import MAIN, OTHER, write
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.recipe import CLUTTER, Recipe, clutter
from snellen.data.phantom.scenes import HEIGHT, MARGIN, UNIT, WIDTH, panoramas
from snellen.data.phantom.things import Things, joined

RIM_LIGHT = 90  # of 256: how bright a thing's edge is, so that it stands out from any scene
BLOCK = 1 << 16  # pixels painted at once


@dataclass(frozen=True)
class Rendered:
    """A batch: images uint8 [B, S, S, 3], masks bool [B, S, S] of what is visible of each object, and their boxes.

    A box is x0, y0, x1, y1 in pixels, maximum exclusive, int64 [B, 4].
    """

    images: np.ndarray
    masks: np.ndarray
    boxes: np.ndarray


@dataclass(frozen=True)
class Layer:
    """Things of which no image has two: painted at once.

    `ramp`, int64 [T], is the first of a thing's two ramps; its rim is painted with the second.
    """

    things: Things
    window: Window
    shape: Grid
    texture: Grid
    ramp: np.ndarray

    def cells(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Where some things are, bool [t, side, side], and the addresses of their colours there, intp."""
        hit = outline(self.shape, part, self.window.size)
        cells = np.add(texture_tones(self.texture, part, self.window.size), (self.ramp[part, None, None] - 1) * TONES)
        cells += hit * np.intp(TONES)
        return hit != 0, cells


@dataclass(frozen=True)
class Picture:
    """A batch ready to be painted: its recipe, its layers from the back, and the colours, uint32 [ramps, TONES].

    `window` is the part of the panorama that each scene shows. The layer of the main objects is the one at `main`. Ramps 0 … B − 1 are the scenes'; then come two for each of
    `things`, which are the main objects, the clutter and the occluders in this order, `roles` int64 [T] naming them.
    """

    made: Recipe
    size: int
    layers: tuple[Layer, ...]
    main: int
    things: Things
    roles: np.ndarray
    colours: np.ndarray
    window: tuple[np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.made.label)

    def blocks(self) -> Iterator[slice]:
        """The images in portions to be painted at once."""
        step = max(BLOCK // self.size**2, 1)
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))


ROLES = ("object", "clutter", "occluder")


def picture(made: Recipe, dials: Dials) -> Picture:
    """What paint and truth start from: things, grids and colours of a recipe."""
    behind = clutter(made, dials)
    groups = [made.objects, *behind, *([occluders(made, dials)] if dials.occlusion > 0 else [])]
    roles = [0] + [1] * len(behind) + [2] * (len(groups) - 1 - len(behind))
    firsts = np.cumsum([0] + [len(group) for group in groups])
    largest = int(dials.largest * ONE) * CLUTTER[1] // 100
    layers = []
    for things, role, first in zip(groups, roles, firsts):
        window = Window.around(things, dials.size, largest) if role == 1 else Window.whole(things, dials.size)
        ramp = len(made.label) + 2 * (first + np.arange(len(things)))
        layers.append(Layer(things, window, shape_grid(things, window), texture_grid(things, window), ramp))
    order = (*layers[1 : 1 + len(behind)], layers[0], *layers[1 + len(behind) :])
    things, role = joined(groups), np.repeat(roles, [len(group) for group in groups])
    colours, window = colour_table(made, things, role), scene_window(made, dials.size)
    return Picture(made, dials.size, order, len(behind), things, role, colours, window)


def paint(made: Recipe, dials: Dials) -> Rendered:
    """The images of a recipe, with what is visible of each object."""
    drawn = picture(made, dials)
    size = dials.size
    images, masks = np.empty((len(drawn), size, size, 3), np.uint8), np.empty((len(drawn), size, size), bool)
    for part in drawn.blocks():
        composed = compose(drawn, part)
        masks[part] = composed.visible
        colour(images[part], composed.cells, drawn.colours)
    return Rendered(images, masks, tight_boxes(masks))


class Composed(NamedTuple):
    """A block of images: the address of each pixel's colour, intp [b, S, S], and the object's visible pixels, bool."""

    cells: np.ndarray
    visible: np.ndarray


def compose(drawn: Picture, part: slice, with_object: bool = True) -> Composed:
    """Some images, layer over layer from the back."""
    cells = scene_cells(drawn, part)
    visible = np.zeros(cells.shape, bool)
    for number, layer in enumerate(drawn.layers):
        if number == drawn.main and with_object:
            visible = cover(cells, layer, part)
        elif number != drawn.main:
            covered = cover(cells, layer, part)
            if number > drawn.main:
                visible[layer.things.image[layer.things.within(part.start, part.stop)] - part.start] &= ~covered
    return Composed(cells, visible)


def cover(cells: np.ndarray, layer: Layer, part: slice) -> np.ndarray:
    """Paint a layer over the addresses of a block of images, in place; returns which pixels of its windows it covers."""
    things = layer.things.within(part.start, part.stop)
    inside, own = layer.cells(things)
    image = layer.things.image[things] - part.start
    if layer.window.side == layer.window.size and len(image) == len(cells):
        np.copyto(cells, own, where=inside)
        return inside
    rows, columns = layer.window.rows(things), layer.window.columns(things)
    place = (image[:, None, None], rows[:, :, None], columns[:, None, :])
    cells[place] = np.where(inside, own, cells[place])
    return inside


def scene_window(made: Recipe, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows (as addresses) and columns [B, S] of each image's window on its panorama; half of them mirrored."""
    draws = made.draws
    pixels = (2 * np.arange(size, dtype=np.int64) + 1) * ONE // (2 * size)
    side = draws.whole("window side", UNIT * 85 // 100, UNIT * 115 // 100)
    left = draws.whole("window left", MARGIN, WIDTH - MARGIN - side)[:, None]
    top = draws.whole("window top", MARGIN, HEIGHT - MARGIN - side)[:, None]
    offset = pixels * side[:, None] // ONE
    across = np.where(draws.chance("window mirrored", 0.5)[:, None], side[:, None] - 1 - offset, offset)
    return (made.scene[:, None] * HEIGHT + top + offset) * WIDTH, left + across


def scene_cells(drawn: Picture, part: slice) -> np.ndarray:
    """The addresses of the colours of some scenes, bars included, intp [b, S, S]."""
    rows, columns = drawn.window
    tones = panoramas(blur=max(UNIT // drawn.size, 2)).reshape(-1).take(rows[part, :, None] + columns[part, None, :])
    marked = np.flatnonzero(drawn.made.edges[part])
    if len(marked):
        some = tones[marked]
        bars(some, drawn.made.draws.take(marked + part.start))
        tones[marked] = some
    return np.add(tones, np.arange(part.start, part.stop, dtype=np.intp)[:, None, None] * TONES)


def colour_table(made: Recipe, things: Things, roles: np.ndarray) -> np.ndarray:
    """The colour of every tone of every ramp, marked, packed in uint32 [B + 2 T, TONES]."""
    vivid = thing_colours(things)
    of_things = np.stack([vivid, vivid * RIM_LIGHT >> 8], axis=1).reshape(-1, 4, 3)
    table = ramps(np.concatenate([scene_colours(made.draws, made.scene), of_things]))
    codes = np.where(roles == 0, MAIN, OTHER) + things.texture
    return write(table.view("<u4")[..., 0], np.concatenate([made.scene, np.repeat(codes, 2)])[:, None])


def colour(images: np.ndarray, cells: np.ndarray, table: np.ndarray) -> None:
    """Fill images uint8 [b, S, S, 3] with the colours at some addresses of the table."""
    packed = table.reshape(-1).take(cells).astype("<u4", copy=False).view(np.uint8).reshape(*cells.shape, 4)
    for channel in range(3):  # three strided copies are five times faster than one of [..., :3]
        images[..., channel] = packed[..., channel]


def tight_boxes(masks: np.ndarray) -> np.ndarray:
    """The smallest boxes around masks, int64 [B, 4]; all 0 where a mask is empty."""
    columns, rows = np.asarray(masks.any(axis=1)), np.asarray(masks.any(axis=2))
    size = masks.shape[1]
    low = [columns.argmax(axis=1), rows.argmax(axis=1)]
    high = [size - columns[:, ::-1].argmax(axis=1), size - rows[:, ::-1].argmax(axis=1)]
    return np.stack(low + high, axis=1) * columns.any(axis=1)[:, None]
