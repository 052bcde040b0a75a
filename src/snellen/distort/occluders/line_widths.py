"""How wide the lines of gates are and how far apart, as the code of Kassaw et al. 2024 draws them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from snellen.distort.raster import FINEST
from snellen.notation import expect_at_most

WIDEST = 19  # pixels: drawn widths and spacings are 1 to 19


@dataclass(frozen=True)
class LineWidths:
    """All draws that are accepted: int64 [n, 3] of width, background width and spacing, and their cumulative chances."""

    rows: np.ndarray
    cumulative: np.ndarray

    def choose(self, uniform: np.ndarray) -> np.ndarray:
        """int64 [B, 3]: the rows of uniform draws in [0, 1)."""
        last = len(self.rows) - 1
        return self.rows[np.searchsorted(self.cumulative, uniform, side="right").clip(0, last)]


@functools.lru_cache(maxsize=64)
def line_widths(width: int | None, spacing: int | None) -> LineWidths:
    """The law of width and spacing, either or both of which may be fixed.

    Published: both uniform in 1 … 19; the background's lines are half as wide, changed by −4 … 3; one of at most 1 px gets
    0 … 3 px more, and one below a twentieth of the spacing 1 … spacing/2 − 1 px more (at least 1). What is not narrower than
    the spacing, or in the background than half of it, is drawn again: here it is left out, which is the same law without
    attempts. A width below 0 is no line.
    """
    chances: dict[tuple[int, int, int], float] = {}
    for period in range(2, WIDEST + 1) if spacing is None else [spacing]:
        for wide in range(1, min(period, WIDEST + 1)) if width is None else [width]:
            if wide >= period:
                continue
            for thin, chance in _background_widths(wide, period):
                if 2 * thin < period:
                    row = wide, max(thin, 0), period
                    chances[row] = chances.get(row, 0.0) + chance
    rows = sorted(chances)
    cumulative = np.cumsum([chances[row] for row in rows])
    return LineWidths(np.array(rows, np.int64), cumulative / cumulative[-1])


def _background_widths(width: int, spacing: int) -> list[tuple[int, float]]:
    """Every background width before any is refused, with its chance."""
    options = []
    for half in range(width // 2 - 4, width // 2 + 4):
        wider = range(half, half + 4) if half <= 1 else [half]
        for middle in wider:
            more = range(1, max(spacing // 2, 2)) if 20 * middle < spacing else [0]
            options += [(middle + step, 1 / (8 * len(wider) * len(more))) for step in more]
    return options


def expect_line_widths(width: int | None, spacing: int | None) -> None:
    """Raise unless lines of this width and spacing leave something to see."""
    if width is not None and width < 1:
        raise ValueError(f"expected width of at least 1 pixel, got {width}")
    if spacing is not None and spacing < 2:
        raise ValueError(f"expected spacing of at least 2 pixels, from one line to the next, got {spacing}")
    expect_at_most(FINEST, **{name: n for name, n in (("width", width), ("spacing", spacing)) if n is not None})
    most = WIDEST if spacing is None else spacing
    if width is not None and width >= most:
        why = f"where spacing is drawn from 2 to {WIDEST}" if spacing is None else f"for a spacing of {spacing}"
        raise ValueError(f"expected width below {most} {why}, got {width}")
