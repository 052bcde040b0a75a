"""Gates: parallel or crossed lines, as of a fence before the object (Kassaw et al. 2024, appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.fills import Fill, Painting
from snellen.distort.occluders.line_widths import WIDEST, expect_line_widths, line_widths
from snellen.distort.occluders.placing import Hidden, Placing, Window, expect_shares, hiding_in_words
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

ONE = 4096  # parts of half a pixel: across oblique lines places are whole numbers of them, which float32 holds exactly
GROUND = {"thin": "", "same": " over the whole image", "bare": " on the object alone"}


@dataclass(frozen=True)
class Gates(Placing, Painting):
    """Cover lines at drawn places: `vertical`, `horizontal`, `cross_hatch`, or `oblique` at any angle (Kassaw et al. 2024).

    `width` is that of the lines over the object, `spacing` the period from one line to the next, in pixels across the lines;
    none draws them as published, from 1 to 19. An oblique gate gets a second set of lines at another angle by a coin.
    `background` is what lies on the rest of the image: `thin` lines of about half the width, in other places, as published;
    the `same` lines as over the object, for which no mask is needed; or none (`bare`). Under `thin`, a gate that hides a
    share of the background of more than twice the object's (`law=paper`), or of more than 60% (`law=code`, not for oblique),
    is drawn again, up to 100 times, then the image counts nowhere. So is one that hides less than `least` of the object or
    more than `most` (published: 0.05 and 0.95).
    """

    kind: Literal["vertical", "horizontal", "cross_hatch", "oblique"] = "vertical"
    width: int | None = None
    spacing: int | None = None
    fill: Fill = "grey"
    background: Literal["thin", "same", "bare"] = "thin"
    law: Literal["paper", "code"] = "paper"
    least: float = 0.0
    most: float = 1.0
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    cover_name: ClassVar[str] = "gates"

    def __post_init__(self) -> None:
        expect_line_widths(self.width, self.spacing)
        expect_shares(self.least, self.most)

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | (frozenset() if self.background == "same" else {"masks"})

    @property
    def selective(self) -> bool:
        return self.background == "thin" or super().selective

    def check_size(self, height: int, width: int) -> None:
        spacing, shorter = WIDEST if self.spacing is None else self.spacing, min(height, width)
        if spacing > shorter:
            how = f"drawn up to {spacing}; fix it, as in spacing={shorter}" if self.spacing is None else f"{spacing}"
            raise ValueError(f"expected spacing of at most {shorter} for this image, got {how}")

    def allows(self, hidden: Hidden) -> np.ndarray:
        allowed = super().allows(hidden)
        if self.background != "thin":
            return allowed
        if self.law == "paper":
            return allowed & (hidden.background_hidden * hidden.object <= 2 * hidden.object_hidden * hidden.background)
        return allowed & ((self.kind == "oblique") | (10 * hidden.background_hidden <= 6 * hidden.background))

    def place(self, view: View, height: int, width: int, attempt: int) -> np.ndarray:
        """int64 [B, 1 + 5 · 2]: the spacing; of either set of lines width, background width, first pixels of both, degrees."""
        rows = line_widths(self.width, self.spacing).choose(view.draw.uniform("lines", attempt))
        spacing, places = rows[:, 2], [rows[:, 2]]
        for number in range(2):
            widths = rows[:, :2].T
            if number and self.kind == "oblique":
                widths = widths * (view.draw.uniform("second", attempt) < 0.5)
            first = [
                view.draw.integer(f"{name} {number}", spacing - wide, attempt)
                for name, wide in zip(("object", "background"), rows[:, :2].T)
            ]
            places += [*widths, *first, view.draw.integer(f"angle {number}", 360, attempt)]
        return np.stack(places, 1)

    def hopeful(self, places: np.ndarray, view: View, pixels: np.ndarray, window: Window) -> np.ndarray:
        """Of oblique lines, which cost most, those over the object are drawn first: a narrow level refuses most of them."""
        if self.kind != "oblique" or not super().selective:
            return super().hopeful(places, view, pixels, window)
        assert view.masks is not None
        at = _middle_of(*view.masks.shape[1:])
        rows, columns = at[0][window[0]], at[1][window[1]]
        lines = _slanted_lines(places, 0, (rows, columns), view)
        if (crossed := np.flatnonzero(places[:, 6])).size:
            lines[view.tensor(crossed)] |= _slanted_lines(places[crossed], 5, (rows, columns), view)
        inside = lines.logical_and_(view.masks[:, window[0], window[1]])
        hidden = inside.flatten(1).sum(1, dtype=torch.int32).cpu().numpy().astype(np.int64)
        return Hidden(pixels, hidden, pixels, hidden).object_within(self.least, self.most)

    def hide(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """bool [B, H, W]."""
        size = height, width
        lines, thin = self._lines(places, 0, size, view)
        if self.kind == "cross_hatch":
            lines, thin = (first | second for first, second in zip((lines, thin), self._lines(places, 1, size, view)))
        if self.kind == "oblique" and (crossed := np.flatnonzero(places[:, 6])).size:
            rows, second = view.tensor(crossed), self._lines(places[crossed], 1, size, view)
            lines[rows] |= second[0]
            thin[rows] |= second[1]
        if self.background == "same":
            return lines.expand(-1, height, width).contiguous()
        assert view.masks is not None
        return lines & view.masks if self.background == "bare" else (lines & view.masks) | (thin & ~view.masks)

    def words(self) -> str:
        size = "" if self.width is None else f" of {self.width} px"
        size += "" if self.spacing is None else f" every {self.spacing} px"
        limit = " (code law)" if self.background == "thin" and self.law == "code" else ""
        kind = self.kind.replace("_", "-")
        return f"{self.fill} {kind} lines{size}{GROUND[self.background]}{limit}{hiding_in_words(self.least, self.most)}"

    def _lines(self, places: np.ndarray, number: int, size: tuple[int, int], view: View) -> tuple[Tensor, Tensor]:
        """bool, broadcasting to [B, H, W]: one set of lines, as wide as over the object and as over the background."""
        if self.kind == "oblique":
            at = _middle_of(*size)
            own_lines, thin = (_slanted_lines(places, 5 * number + ground, at, view) for ground in (0, 1))
            return own_lines, thin
        spacing, own = places[:, :1], places[:, 1 + 5 * number : 6 + 5 * number]
        wide, first = own[:, :2].T[:, :, None], own[:, 2:4].T[:, :, None]
        upright = self.kind == "vertical" or number == 1
        covered = (np.arange(size[upright]) - first) % spacing < wide
        return view.tensor(covered[0]).unsqueeze(2 - upright), view.tensor(covered[1]).unsqueeze(2 - upright)


def _middle_of(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """How far the pixels of each axis lie from the middle, in halves of a pixel: odd numbers, so that at a right angle no line
    ends on one."""
    down, across = (2 * np.arange(length) + 1 - length // 2 * 2 for length in (height, width))
    return down, across


def _slanted_lines(places: np.ndarray, column: int, at: tuple[np.ndarray, np.ndarray], view: View) -> Tensor:
    """bool [B, rows, columns]: oblique lines at some rows and columns from the middle.

    `column` says which: 0 and 1 for the first set, as wide as over the object and over the background, 5 and 6 for the second.
    """
    spacing, first = places[:, :1], places[:, [3 + column]]
    degrees = np.radians(places[:, [5 if column < 5 else 10]])
    down, right = (np.rint(ONE * part) for part in (np.cos(degrees), np.sin(degrees)))
    # how far each pixel lies past the line that begins at `first`, in 2 · ONE parts of a pixel
    parts = [part.astype(np.float32) for part in (down * at[0], right * at[1] - first * (2 * ONE))]
    past = view.tensor(parts[0])[:, :, None] + view.tensor(parts[1])[:, None, :]
    frequency = view.tensor((1 / (2 * ONE * spacing)).astype(np.float32))[:, :, None]
    return _within(past, frequency, places[:, [1 + column]] / spacing, view)


def _within(past: Tensor, frequency: Tensor, reach: np.ndarray, view: View) -> Tensor:
    """bool [B, H, W]: which pixels lie on lines that take `reach` of a period; each step rounds alike on every device."""
    past *= frequency
    past -= past.floor()
    return past < view.tensor(reach.astype(np.float32))[:, :, None]
