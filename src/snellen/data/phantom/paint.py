"""Painting: a pixel is a lookup of silhouette, texture and panorama, and one more of its colour.

What is known per image (frames, windows, colours) is worked out for the whole batch; the pixels then come in blocks
that stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.colours import TONES, object_colours, ramps, scene_colours
from snellen.data.phantom.fixed import ONE, TURN, cosine, sine
from snellen.data.phantom.recipe import Recipe
from snellen.data.phantom.scenes import HEIGHT, MARGIN, UNIT, WIDTH, panoramas
from snellen.data.phantom.shapes import GRID, silhouettes
from snellen.data.phantom.textures import TILE, tiles

TEXTURE_SIDE = ONE * 7 // 10  # what a texture tile spans, before its own scale
RIM_LIGHT = 90  # of 256: how bright an object's edge is, so that it stands out from any scene
FINE = 16  # fraction bits of a position on the silhouette grid
BLOCK = 1 << 16  # pixels painted at once


@dataclass(frozen=True)
class Rendered:
    """A batch: images uint8 [B, S, S, 3], object masks bool [B, S, S] and tight boxes int64 [B, 4].

    A box is x0, y0, x1, y1 in pixels, maximum exclusive.
    """

    images: np.ndarray
    masks: np.ndarray
    boxes: np.ndarray


def paint(made: Recipe, size: int) -> Rendered:
    """The images of a recipe at `size` pixels square."""
    count = len(made.label)
    pixels = (2 * np.arange(size, dtype=np.int64) + 1) * ONE // (2 * size)
    shape, texture, window = shape_frame(made, pixels), texture_frame(made, pixels), scene_window(made, pixels)
    colours = colour_table(made)
    images, masks = np.empty((count, size, size, 3), np.uint8), np.empty((count, size, size), bool)
    step = max(BLOCK // size**2, 1)
    for part in (slice(start, start + step) for start in range(0, count, step)):
        hit = outline(shape, part, size)
        np.not_equal(hit, 0, out=masks[part])
        tones = np.where(masks[part], texture_tones(texture, part, size), scene_tones(window, part, size))
        colour(images[part], hit, tones, colours[part])
    return Rendered(images, masks, tight_boxes(masks))


@dataclass(frozen=True)
class Frame:
    """A turned grid over each image: pixel (row, column) lies at u = u_column + u_row, v = v_column + v_row.

    These are int32 [B, S]; `sheet`, int64 [B], is the address in its table of the sheet that the grid reads.
    """

    u_column: np.ndarray
    u_row: np.ndarray
    v_column: np.ndarray
    v_row: np.ndarray
    sheet: np.ndarray

    def positions(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """u and v, int32 [b, S, S], of some images."""
        u = self.u_column[part, None, :] + self.u_row[part, :, None]
        v = self.v_column[part, None, :] + self.v_row[part, :, None]
        return u, v


def shape_frame(made: Recipe, pixels: np.ndarray) -> Frame:
    """The silhouette grid, GRID cells of 2^FINE steps along the object's diameter."""
    centre = np.full_like(made.x, GRID << (FINE - 1))
    return turned(made, pixels, made.turn, (GRID << FINE) // made.diameter, centre, centre, made.label * GRID**2)


def texture_frame(made: Recipe, pixels: np.ndarray) -> Frame:
    """The texture's grid: a tile spans the 2^32 values of a position, so running past its end wraps around."""
    draws = made.draws
    turn = made.turn + draws.whole("texture turn", -TURN // 24, TURN // 24)
    scale = (1 << 40) // (TEXTURE_SIDE * draws.whole("texture scale", 220, 290))
    u, v = draws.bits("texture u"), draws.bits("texture v")
    return turned(made, pixels, turn, scale, u, v, made.texture * TILE**2)


def turned(
    made: Recipe,
    pixels: np.ndarray,
    turn: np.ndarray,
    scale: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    sheet: np.ndarray,
) -> Frame:
    """The grid turned about the object's centre, which lands on (u, v), with `scale` steps to a 1/ONE of the side."""
    cos, sin = (cosine(turn) * scale)[:, None], (sine(turn) * scale)[:, None]
    right, down = pixels - made.x[:, None], pixels - made.y[:, None]
    return Frame(
        u_column=(right * cos // ONE + u[:, None]).astype(np.int32),
        u_row=(down * sin // ONE).astype(np.int32),
        v_column=(-right * sin // ONE + v[:, None]).astype(np.int32),
        v_row=(down * cos // ONE).astype(np.int32),
        sheet=sheet,
    )


def outline(frame: Frame, part: slice, size: int) -> np.ndarray:
    """Where each object is: uint8 [b, S, S], 0 outside, INSIDE or RIM."""
    u, v = frame.positions(part)
    # Read as unsigned, what lies left of the grid is far right of it: one minimum catches both sides.
    column = np.minimum((u >> FINE).view(np.uint32), GRID - 1)
    row = np.minimum((v >> FINE).view(np.uint32), GRID - 1)
    cell = np.add(row * np.uint32(GRID) + column, frame.sheet[part, None, None], dtype=np.intp)
    return silhouettes(rim=max(2 * GRID // size, 8)).reshape(-1).take(cell)


def texture_tones(frame: Frame, part: slice, size: int) -> np.ndarray:
    """The tone of each object's texture, as if it filled the image, uint8 [b, S, S]."""
    u, v = (position.view(np.uint32) >> 24 for position in frame.positions(part))
    cell = np.add(v * np.uint32(TILE) + u, frame.sheet[part, None, None], dtype=np.intp)
    return tiles(blur=max(TILE * ONE // TEXTURE_SIDE // size, 2)).reshape(-1).take(cell)


def scene_window(made: Recipe, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows (as addresses) and columns [B, S] of each image's window on its panorama; half of them mirrored."""
    draws = made.draws
    side = draws.whole("window side", UNIT * 85 // 100, UNIT * 115 // 100)
    left = draws.whole("window left", MARGIN, WIDTH - MARGIN - side)[:, None]
    top = draws.whole("window top", MARGIN, HEIGHT - MARGIN - side)[:, None]
    offset = pixels * side[:, None] // ONE
    across = np.where(draws.chance("window mirrored", 0.5)[:, None], side[:, None] - 1 - offset, offset)
    return (made.scene[:, None] * HEIGHT + top + offset) * WIDTH, left + across


def scene_tones(window: tuple[np.ndarray, np.ndarray], part: slice, size: int) -> np.ndarray:
    """The tone of each image's scene, uint8 [b, S, S]."""
    rows, columns = window
    cell = rows[part, :, None] + columns[part, None, :]
    return panoramas(blur=max(UNIT // size, 2)).reshape(-1).take(cell)


def colour_table(made: Recipe) -> np.ndarray:
    """The colour of every tone of the scene, the object and the object's darker rim: uint8 [B, 3, TONES, 4]."""
    thing = object_colours(made.draws)
    return ramps(np.stack([scene_colours(made.draws, made.scene), thing, thing * RIM_LIGHT >> 8], axis=1))


def colour(images: np.ndarray, hit: np.ndarray, tones: np.ndarray, table: np.ndarray) -> None:
    """Fill images uint8 [b, S, S, 3] with the colours of tones [b, S, S] on the ramp that `hit` names."""
    cell = np.arange(len(tones), dtype=np.intp)[:, None, None] * (3 * TONES) + tones
    cell += hit * np.intp(TONES)
    packed = table.reshape(-1).view(np.uint32).take(cell).view(np.uint8).reshape(*tones.shape, 4)
    for channel in range(3):  # three strided copies are five times faster than one of [..., :3]
        images[..., channel] = packed[..., channel]


def tight_boxes(masks: np.ndarray) -> np.ndarray:
    """The smallest boxes around masks that are nowhere empty, int64 [B, 4]."""
    columns, rows = np.asarray(masks.any(axis=1)), np.asarray(masks.any(axis=2))
    size = masks.shape[1]
    low = [columns.argmax(axis=1), rows.argmax(axis=1)]
    high = [size - columns[:, ::-1].argmax(axis=1), size - rows[:, ::-1].argmax(axis=1)]
    return np.stack(low + high, axis=1)
