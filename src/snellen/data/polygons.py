"""Which pixels a polygon covers, by the rule of COCO's own tools, to the pixel.

Corners are rounded to a fifth of a pixel, and each side becomes a chain of such fine points. Where the chain steps across the
middle of a column of pixels, the column changes sides at that height: between an odd and an even change it is inside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FINE = 5  # points per pixel
MIDDLE = FINE // 2  # of a column, in fine points: the step from it to the next point crosses the middle
AT_ONCE = 1 << 20  # crossings


def filled_polygon(corners: Sequence[float], height: int, width: int) -> np.ndarray:
    """bool [H, W]: the pixels inside a polygon x0, y0, x1, y1, …; it may cross itself and reach out of the image."""
    points = np.trunc(FINE * np.asarray(corners, np.float64) + 0.5).reshape(-1, 2)
    ends = np.roll(points, -1, axis=0)
    flips = np.zeros((width, height + 1), np.bool_)
    moves = points[:, 0] != ends[:, 0]  # an upright side crosses no middle
    for starts, stops in _in_parts(points[moves], ends[moves], width):
        columns, heights = _crossings(starts, stops, width)
        np.logical_xor.at(flips, (columns, np.clip((heights + MIDDLE) // FINE, 0, height)), True)
    return np.logical_xor.accumulate(flips, axis=1)[:, :height].T


def _in_parts(starts: np.ndarray, stops: np.ndarray, width: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The sides, so many at a time that their crossings take little memory."""
    step = max(1, AT_ONCE // max(width, 1))
    return [(starts[place : place + step], stops[place : place + step]) for place in range(0, len(starts), step)]


def _crossings(starts: np.ndarray, stops: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns whose middles some sides cross, and how high each does, in fine points; both int64."""
    across, down = np.abs(stops - starts).T
    shallow = across >= down
    turned = np.where(shallow, starts[:, 0] > stops[:, 0], starts[:, 1] > stops[:, 1])[:, None]
    starts, stops = np.where(turned, stops, starts), np.where(turned, starts, stops)
    left, right = np.sort(np.stack([starts[:, 0], stops[:, 0]]), axis=0)
    first = np.clip(np.ceil((left - MIDDLE) / FINE), 0, width).astype(np.int64)
    last = np.clip(np.floor((right - MIDDLE - 1) / FINE), -1, width - 1).astype(np.int64)
    counts = np.maximum(last - first + 1, 0)
    side = np.repeat(np.arange(len(starts)), counts)
    columns = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts) + first[side]
    heights = np.empty(len(side))
    flat = shallow[side]
    heights[flat] = _on_shallow(starts[side[flat]], stops[side[flat]], columns[flat])
    heights[~flat] = _on_steep(starts[side[~flat]], stops[side[~flat]], columns[~flat])
    return columns, heights.astype(np.int64)


def _on_shallow(starts: np.ndarray, stops: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The upper of the two points between which a side, one point per step to the right, crosses the middle of a column."""
    slope = (stops[:, 1] - starts[:, 1]) / (stops[:, 0] - starts[:, 0])
    steps = FINE * columns + MIDDLE - starts[:, 0]
    ends = [np.trunc(starts[:, 1] + slope * (steps + more) + 0.5) for more in (0, 1)]
    return np.minimum(*ends)


def _on_steep(starts: np.ndarray, stops: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The same of a side with one point per step down: the last point before it is on the other half of the column."""
    slope = (stops[:, 0] - starts[:, 0]) / (stops[:, 1] - starts[:, 1])
    middle = FINE * columns + MIDDLE + 0.5
    rising = slope > 0
    steps = np.maximum(np.floor((middle - starts[:, 0]) / slope) - 2, 0)  # rounding moves it by less than two points
    for _ in range(5):
        place = np.trunc(starts[:, 0] + slope * steps + 0.5)
        steps += np.where(rising, place < middle, place > middle)
    return starts[:, 1] + steps - 1
