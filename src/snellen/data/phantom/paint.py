"""Painting: a pixel is a lookup of silhouette, texture and panorama, and one more of its colour.

What is known per image (grids, windows, colours) is worked out for the whole batch; the pixels then come in blocks that
stay in the processor's cache. Layers are painted from the back: scene, bars, clutter, object, occluder. Each writes, for
the pixels it covers, a ramp and a tone, so that what a pixel shows is still known at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from snellen.data.phantom.colours import TONES
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draw_list import SceneList
from snellen.data.phantom.draws import PhantomDraws
from snellen.data.phantom.fixed_point import ONE
from snellen.data.phantom.grids import outline, texture_tones
from snellen.data.phantom.layers import ROLES, PhantomLayer, PhantomPicture, Role, picture
from snellen.data.phantom.scenes import UNIT, panoramas

BARS = ("first across", "second across", "first down", "second down")
THICK = ONE // 10  # half of it in the scene's darkest tone, half in its lightest: an edge on any scene
DARK, LIGHT = 0, 255


@dataclass(frozen=True)
class PaintedImages:
    """A batch: images uint8 [B, S, S, 3], masks bool [B, S, S] of what is visible of each object, and their boxes.

    A box is x0, y0, x1, y1 in pixels, maximum exclusive, int64 [B, 4].
    """

    images: np.ndarray
    masks: np.ndarray
    boxes: np.ndarray


def paint(recipe: SceneList, dials: Dials, roles: Sequence[Role] = ROLES) -> PaintedImages:
    """The images of a recipe, with what is visible of each object; of the things only those of some roles."""
    drawing = picture(recipe, dials)
    size = dials.size
    images, masks = np.empty((len(drawing), size, size, 3), np.uint8), np.empty((len(drawing), size, size), bool)
    for part in drawing.blocks():
        canvas = compose(drawing, part, roles)
        np.logical_and(canvas.ramps > 0, canvas.ramps < 3, out=masks[part])
        fill(images[part], cells(drawing, part, canvas), drawing.colours)
    return PaintedImages(images, masks, tight_boxes(masks))


class PhantomPainting(NamedTuple):
    """A block of images before they get their colours, uint8 [b, S, S] each.

    `ramps` are numbered within an image: 0 is the scene, 2 n − 1 the inside and 2 n the rim of thing n; the main object
    is thing 1. `tones` are positions on those ramps.
    """

    ramps: np.ndarray
    tones: np.ndarray


def compose(drawing: PhantomPicture, part: slice, roles: Sequence[Role] = ROLES) -> PhantomPainting:
    """Some images, layer over layer from the back; of the things only those of some roles."""
    tones = scene_tones(drawing, part)
    canvas = PhantomPainting(np.zeros_like(tones), tones)
    for layer in drawing.layers:
        if layer.role in roles:
            cover(canvas, layer, part)
    return canvas


def cover(canvas: PhantomPainting, layer: PhantomLayer, part: slice) -> None:
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
    line = image[:, None] * layer.window.size + rows
    address = (line[:, :, None] * layer.window.size + columns[:, None, :])[inside]
    canvas.ramps.reshape(-1)[address] = hit[inside]
    canvas.tones.reshape(-1)[address] = tones[inside]


def scene_tones(drawing: PhantomPicture, part: slice) -> np.ndarray:
    """The tone of each pixel of some scenes, bars included, uint8 [b, S, S]."""
    rows, columns = drawing.window
    tones = panoramas(blur=max(UNIT // drawing.size, 2)).reshape(-1).take(rows[part, :, None] + columns[part, None, :])
    marked = np.flatnonzero(drawing.recipe.edges[part])
    if len(marked):
        tones[marked] = barred(tones[marked], drawing.recipe.draws.take(marked + part.start))
    return tones


def barred(scenes: np.ndarray, draws: PhantomDraws) -> np.ndarray:
    """Scenes, tones uint8 [b, S, S], with two bars across and two down, which mark one class by straight edges."""
    tones, size = scenes.copy(), scenes.shape[1]
    pixels = (2 * np.arange(size, dtype=np.int64) + 1) * ONE // (2 * size)
    for bar in BARS:
        length = draws.whole(f"{bar} length", ONE * 35 // 100, ONE * 75 // 100)
        start = draws.whole(f"{bar} start", 0, ONE - length)[:, None]
        edge = draws.whole(f"{bar} edge", THICK // 2, ONE - THICK // 2)[:, None]
        along = (pixels >= start) & (pixels < start + length[:, None])
        for tone, low, high in ((DARK, edge - THICK // 2, edge), (LIGHT, edge, edge + THICK // 2)):
            through = (pixels >= low) & (pixels < high)
            rows, columns = (through, along) if bar.endswith("across") else (along, through)
            tones[rows[:, :, None] & columns[:, None, :]] = tone
    return tones


def cells(drawing: PhantomPicture, part: slice, canvas: PhantomPainting) -> np.ndarray:
    """The address of each pixel's colour in the table, intp [b, S, S]."""
    address = canvas.tones + (drawing.first[part, None, None] * TONES).astype(np.intp)
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
