"""Gates: parallel or crossed lines, as of a fence before the object (Kassaw et al. 2024, appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.fills import Fill, Painting
from snellen.distort.occluders.line_widths import WIDEST, expect_line_widths, line_widths
from snellen.distort.occluders.placing import Hidden, Placing, expect_shares, hiding_in_words
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

ONE = 4096  # parts of half a pixel: across oblique lines places are whole numbers of them, so that every device agrees
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

    def hide(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """bool [B, H, W]."""
        lines, thin = None, None
        for number, places_across in enumerate(self._across(places, height, width, view)):
            start = 1 + 5 * number
            own, other = (
                _band(places_across, places[:, start + k], places[:, start + 2 + k], self._unit, view) for k in range(2)
            )
            lines, thin = (own, other) if lines is None or thin is None else (lines | own, thin | other)
        assert lines is not None
        assert thin is not None
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

    @property
    def _unit(self) -> int:
        return 2 * ONE if self.kind == "oblique" else 1

    def _across(self, places: np.ndarray, height: int, width: int, view: View) -> list[Tensor]:
        """int32 for each set of lines, broadcasting to [B, H, W]: how far a pixel lies past a multiple of the spacing."""
        period = view.tensor((places[:, :1] * self._unit).astype(np.int32))[:, :, None]
        rows, columns = (torch.arange(n, dtype=torch.int32, device=period.device) for n in (height, width))
        if self.kind != "oblique":
            across = {"vertical": columns[None, None, :], "horizontal": rows[None, :, None]}
            kinds = ("horizontal", "vertical") if self.kind == "cross_hatch" else (self.kind,)
            return [across[kind].remainder(period) for kind in kinds]
        sets = []
        for number in range(2):
            angle = np.radians(places[:, 5 * (number + 1)])[:, None]
            right, down = (np.rint(ONE * part).astype(np.int32) for part in (np.sin(angle), np.cos(angle)))
            x, y = (2 * np.arange(n, dtype=np.int32) + 1 - n for n in (width, height))
            sets.append((view.tensor(right * x)[:, None, :] + view.tensor(down * y)[:, :, None]).remainder(period))
        return sets


def _band(across: Tensor, wide: np.ndarray, first: np.ndarray, unit: int, view: View) -> Tensor:
    """bool, of the shape of `across`: the pixels of lines `wide` from `first` on, both [B] in pixels."""
    begin, end = view.tensor((np.stack([first, first + wide]) * unit).astype(np.int32))[:, :, None, None]
    return (across >= begin) & (across < end)
