"""Painting: a pixel is a lookup of silhouette, texture and panorama, and one more of its colour.

What is known per image (grids, windows, colours) is worked out for the whole batch; the pixels then come in blocks that
stay in the processor's cache. Layers are painted from the back: scene, bars, clutter, object, occluder. Each writes, for
the pixels it covers, a ramp and a tone, so that what a pixel shows is still known at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from snellen.data.phantom.colours import TONES, ramps, scene_colours, thing_colours
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.edges import barred
from snellen.data.phantom.fixed import ONE
from snellen.data.phantom.grids import Grid, Window, outline, shape_grid, texture_grid, texture_tones
from snellen.data.phantom.marks import MAIN, OTHER, write
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.recipe import CLUTTER, Recipe, clutter
from snellen.data.phantom.scenes import HEIGHT, MARGIN, UNIT, WIDTH, panoramas
from snellen.data.phantom.things import Things, joined

RIM_LIGHT = 90  # of 256: how bright a thing's edge is, so that it stands out from any scene
BLOCK = 1 << 16  # pixels painted at once

Role = Literal["object", "clutter", "occluder"]


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
    """Things of which no image has two, painted at once; `number`, int64 [T], is that of each thing in its image."""

    things: Things
    role: Role
    number: np.ndarray
    window: Window
    shape: Grid
    texture: Grid


@dataclass(frozen=True)
class Picture:
    """A batch ready to be painted: its recipe, its layers from the back, and the colours, uint32 [ramps, TONES].

    An image's ramps start at `first`, int64 [B]: its scene's, then two for each thing by number, inside and rim.
    `window` are the rows and columns of the panorama that each scene shows.
    """

    made: Recipe
    size: int
    layers: tuple[Layer, ...]
    colours: np.ndarray
    first: np.ndarray
    window: tuple[np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.made.label)

    def blocks(self) -> Iterator[slice]:
        """The images in portions to be painted at once."""
        step = max(BLOCK // self.size**2, 1)
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))


def picture(made: Recipe, dials: Dials) -> Picture:
    """What is worked out for a whole batch before its pixels are painted."""
    count = np.zeros(len(made.label), np.int64)
    layers = layers_of("object", made.objects, dials, count)
    if dials.clutter > 0:
        layers += layers_of("clutter", clutter(made, dials), dials, count)
    if dials.occlusion > 0:
        layers += layers_of("occluder", occluders(made, dials), dials, count)
    first = np.cumsum(2 * count + 1) - (2 * count + 1)
    colours = colour_table(made, layers, first)
    layers.sort(key=lambda layer: ("clutter", "object", "occluder").index(layer.role))
    return Picture(made, dials.size, tuple(layers), colours, first, scene_window(made, dials.size))


def layers_of(role: Role, things: Things, dials: Dials, count: np.ndarray) -> list[Layer]:
    """The layers of the things of a role, numbered on from the `count` of things in each image, which grows."""
    largest = int(dials.largest * ONE) * CLUTTER[1] // 100
    small = role == "clutter"
    window = Window.around(things, dials.size, largest) if small else Window.whole(things, dials.size)
    shape, texture = shape_grid(things, window), texture_grid(things, window)
    layers = []
    for part in things.slots():
        some = things.take(part)
        count[some.image] += 1
        layers.append(Layer(some, role, count[some.image], window.take(part), shape.take(part), texture.take(part)))
    return layers


def paint(made: Recipe, dials: Dials) -> Rendered:
    """The images of a recipe, with what is visible of each object."""
    drawn = picture(made, dials)
    size = dials.size
    images, masks = np.empty((len(drawn), size, size, 3), np.uint8), np.empty((len(drawn), size, size), bool)
    for part in drawn.blocks():
        canvas = compose(drawn, part)
        np.logical_and(canvas.ramps > 0, canvas.ramps < 3, out=masks[part])
        fill(images[part], cells(drawn, part, canvas), drawn.colours)
    return Rendered(images, masks, tight_boxes(masks))


class Canvas(NamedTuple):
    """A block of images before they get their colours, uint8 [b, S, S] each.

    `ramps` are numbered within an image: 0 is the scene, 2 n − 1 the inside and 2 n the rim of thing n; the main object
    is thing 1. `tones` are positions on those ramps.
    """

    ramps: np.ndarray
    tones: np.ndarray


def compose(drawn: Picture, part: slice, roles: Sequence[Role] = ("clutter", "object", "occluder")) -> Canvas:
    """Some images, layer over layer from the back; of the things only those of some roles."""
    tones = scene_tones(drawn, part)
    canvas = Canvas(np.zeros_like(tones), tones)
    for layer in drawn.layers:
        if layer.role in roles:
            cover(canvas, layer, part)
    return canvas


def cover(canvas: Canvas, layer: Layer, part: slice) -> None:
    """Paint a layer's things over a block of images, in place."""
    things = layer.things.within(part.start, part.stop)
    hit = outline(layer.shape, things, layer.window.size)
    tones = texture_tones(layer.texture, things, layer.window.size)
    inside = hit != 0
    hit += (2 * layer.number[things, None, None] - 2).astype(np.uint8)
    image = layer.things.image[things] - part.start
    if layer.window.side == layer.window.size and len(image) == len(canvas.tones):
        np.copyto(canvas.ramps, hit, where=inside)
        np.copyto(canvas.tones, tones, where=inside)
        return
    rows, columns = layer.window.rows(things), layer.window.columns(things)
    address = ((image[:, None, None] * layer.window.size + rows[:, :, None]) * layer.window.size + columns[:, None, :])[
        inside
    ]
    canvas.ramps.reshape(-1)[address] = hit[inside]
    canvas.tones.reshape(-1)[address] = tones[inside]


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


def scene_tones(drawn: Picture, part: slice) -> np.ndarray:
    """The tone of each pixel of some scenes, bars included, uint8 [b, S, S]."""
    rows, columns = drawn.window
    tones = panoramas(blur=max(UNIT // drawn.size, 2)).reshape(-1).take(rows[part, :, None] + columns[part, None, :])
    marked = np.flatnonzero(drawn.made.edges[part])
    if len(marked):
        tones[marked] = barred(tones[marked], drawn.made.draws.take(marked + part.start))
    return tones


def colour_table(made: Recipe, layers: Sequence[Layer], first: np.ndarray) -> np.ndarray:
    """The colour of every tone of every ramp, marked, packed in uint32 [ramps, TONES]."""
    things, number = joined([layer.things for layer in layers]), np.concatenate([layer.number for layer in layers])
    inside = first[things.image] + 2 * number - 1
    stops, codes = (
        np.empty((len(first) + 2 * len(number), 4, 3), np.int64),
        np.empty(len(first) + 2 * len(number), np.int64),
    )
    stops[first], codes[first] = scene_colours(made.draws, made.scene), made.scene
    stops[inside] = thing_colours(things)
    stops[inside + 1] = stops[inside] * RIM_LIGHT >> 8
    codes[inside] = codes[inside + 1] = np.where(number == 1, MAIN, OTHER) + things.texture
    return write(ramps(stops), codes[:, None])


def cells(drawn: Picture, part: slice, canvas: Canvas) -> np.ndarray:
    """The address of each pixel's colour in the table, intp [b, S, S]."""
    address = canvas.tones + (drawn.first[part, None, None] * TONES).astype(np.intp)
    address += canvas.ramps * np.intp(TONES)
    return address


def fill(images: np.ndarray, address: np.ndarray, table: np.ndarray) -> None:
    """Fill images uint8 [b, S, S, 3] with the colours at some addresses of the table."""
    packed = table.reshape(-1).take(address).astype("<u4", copy=False).view(np.uint8).reshape(*address.shape, 4)
    for channel in range(3):  # three strided copies are five times faster than one of [..., :3]
        images[..., channel] = packed[..., channel]


def tight_boxes(masks: np.ndarray) -> np.ndarray:
    """The smallest boxes around masks, int64 [B, 4]; all 0 where a mask is empty."""
    columns, rows = np.asarray(masks.any(axis=1)), np.asarray(masks.any(axis=2))
    size = masks.shape[1]
    low = [columns.argmax(axis=1), rows.argmax(axis=1)]
    high = [size - columns[:, ::-1].argmax(axis=1), size - rows[:, ::-1].argmax(axis=1)]
    return np.stack(low + high, axis=1) * np.any(columns, axis=1, keepdims=True)
