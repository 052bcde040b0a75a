"""Turned grids: which cell of a silhouette or a texture each pixel of an image falls on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.fixed_point import ONE, TURN, cosine, sine
from snellen.data.phantom.objects import Things
from snellen.data.phantom.shapes import GRID, silhouettes
from snellen.data.phantom.textures import TILE, tiles

TEXTURE_SIDE = ONE * 7 // 10  # what a texture tile spans, before its own scale
FINE = 16  # fraction bits of a position on the silhouette grid


@dataclass(frozen=True)
class GridWindow:
    """A square of `side` pixels in images of `size` pixels, one for each thing: its first column and row, int64 [T]."""

    size: int
    side: int
    left: np.ndarray
    top: np.ndarray

    @classmethod
    def whole(cls, things: Things, size: int) -> GridWindow:
        """The whole image."""
        zero = np.zeros(len(things), np.int64)
        return cls(size, size, zero, zero)

    @classmethod
    def around(cls, things: Things, size: int, largest: int) -> GridWindow:
        """All that an image shows of a thing whose diameter is at most `largest` 1/ONE of the side."""
        side = min(largest * size // ONE + 3, size)
        corner = [(centre * size // ONE - side // 2).clip(0, size - side) for centre in (things.x, things.y)]
        return cls(size, side, *corner)

    def take(self, part: slice) -> GridWindow:
        """The windows of some of the things."""
        return GridWindow(self.size, self.side, self.left[part], self.top[part])

    def columns(self, part: slice) -> np.ndarray:
        """The columns of the image that some windows show, int64 [t, side]."""
        return self.left[part, None] + np.arange(self.side)

    def rows(self, part: slice) -> np.ndarray:
        """The rows of the image that some windows show, int64 [t, side]."""
        return self.top[part, None] + np.arange(self.side)

    def centres(self, first: np.ndarray) -> np.ndarray:
        """Where the pixels from `first` on have their centres, in 1/ONE of the image side, int64 [T, side]."""
        return (2 * (first[:, None] + np.arange(self.side)) + 1) * ONE // (2 * self.size)


@dataclass(frozen=True)
class Grid:
    """A turned grid over each window: pixel (row, column) lies at u = u_column + u_row, v = v_column + v_row.

    These are int32 [T, side]; `sheet`, int64 [T], is the address in its table of the sheet that the grid reads.
    """

    u_column: np.ndarray
    u_row: np.ndarray
    v_column: np.ndarray
    v_row: np.ndarray
    sheet: np.ndarray

    def take(self, part: slice) -> Grid:
        """The grids over some of the windows."""
        lines = self.u_column[part], self.u_row[part], self.v_column[part], self.v_row[part]
        return Grid(*lines, self.sheet[part])

    def positions(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """u and v, int32 [t, side, side], of some windows."""
        u = self.u_column[part, None, :] + self.u_row[part, :, None]
        v = self.v_column[part, None, :] + self.v_row[part, :, None]
        return u, v


def shape_grid(things: Things, window: GridWindow) -> Grid:
    """The silhouette grid, GRID cells of 2^FINE steps along the thing's diameter."""
    centre = np.full_like(things.x, GRID << (FINE - 1))
    return turned(
        things, window, things.turn, (GRID << FINE) // things.diameter, (centre, centre), things.shape * GRID**2
    )


def texture_grid(things: Things, window: GridWindow) -> Grid:
    """The texture's grid: a tile spans the 2^32 values of a position, so running past its end wraps around."""
    draws = things.draws
    turn = things.turn + draws.whole("texture turn", -TURN // 24, TURN // 24)
    scale = (1 << 40) // (TEXTURE_SIDE * draws.whole("texture scale", 220, 290))
    origin = draws.bits("texture u"), draws.bits("texture v")
    return turned(things, window, turn, scale, origin, things.texture * TILE**2)


def turned(
    things: Things,
    window: GridWindow,
    turn: np.ndarray,
    scale: np.ndarray,
    origin: tuple[np.ndarray, np.ndarray],
    sheet: np.ndarray,
) -> Grid:
    """The grid turned about the thing's centre, which lands on `origin`, with `scale` steps to a 1/ONE of the side."""
    cos, sin = (cosine(turn) * scale)[:, None], (sine(turn) * scale)[:, None]
    right, down = window.centres(window.left) - things.x[:, None], window.centres(window.top) - things.y[:, None]
    return Grid(
        u_column=(right * cos // ONE + origin[0][:, None]).astype(np.int32),
        u_row=(down * sin // ONE).astype(np.int32),
        v_column=(-right * sin // ONE + origin[1][:, None]).astype(np.int32),
        v_row=(down * cos // ONE).astype(np.int32),
        sheet=sheet,
    )


def silhouette_cells(grid: Grid, part: slice) -> np.ndarray:
    """The cell of the silhouettes' table under each pixel, intp [t, side, side]; those along its edge are empty."""
    u, v = grid.positions(part)
    # Read as unsigned, what lies left of the grid is far right of it: one minimum catches both sides.
    column = np.minimum((u >> FINE).view(np.uint32), GRID - 1)
    row = np.minimum((v >> FINE).view(np.uint32), GRID - 1)
    return np.add(row * np.uint32(GRID) + column, grid.sheet[part, None, None], dtype=np.intp)


def outline(grid: Grid, part: slice, size: int) -> np.ndarray:
    """Where each thing is: uint8 [t, side, side], 0 outside, INSIDE or RIM."""
    return silhouettes(rim=max(2 * GRID // size, 8)).reshape(-1).take(silhouette_cells(grid, part))


def texture_tones(grid: Grid, part: slice, size: int) -> np.ndarray:
    """The tone of each thing's texture, as if it filled its window, uint8 [t, side, side]."""
    u, v = (position.view(np.uint32) >> 24 for position in grid.positions(part))
    cell = np.add(v * np.uint32(TILE) + u, grid.sheet[part, None, None], dtype=np.intp)
    return tiles(blur=max(TILE * ONE // TEXTURE_SIDE // size, 2)).reshape(-1).take(cell)
