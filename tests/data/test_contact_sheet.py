"""Contact sheets: the pictures are where their tiles are, and what is transparent shows the ground."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from snellen.build.contact_sheet import GAP, GROUND, LINE, SIDE, Tile, contact_sheet


def page_of(tiles: list[Tile]) -> np.ndarray:
    with Image.open(io.BytesIO(contact_sheet(tiles, "title"))) as sheet:
        return np.asarray(sheet).astype(int)


def middle(page: np.ndarray, row: int, column: int) -> np.ndarray:
    """The middle of a tile."""
    top, left = LINE + GAP + row * (SIDE + GAP + LINE), GAP + column * (SIDE + GAP)
    return page[top + SIDE // 2, left + SIDE // 2]


def test_tiles_come_row_by_row() -> None:
    levels = np.linspace(10, 240, 14).astype(np.uint8)
    page = page_of([Tile(np.full((20, 30, 3), level, np.uint8), f"{level}") for level in levels])
    shown = [middle(page, number // 12, number % 12).mean() for number in range(14)]
    assert shown == pytest.approx(levels.tolist(), abs=3)


def test_what_is_opaque_is_pasted_on_the_ground_and_what_is_not_shows_it() -> None:
    half = np.full((SIDE, SIDE, 4), (200, 30, 30, 255), np.uint8)
    half[: SIDE // 3, :, 3] = 0
    page = page_of([Tile(half, "cut out")])
    assert middle(page, 0, 0) == pytest.approx([200, 30, 30], abs=6)
    assert page[LINE + GAP + 10, GAP + SIDE // 2] == pytest.approx(GROUND, abs=6)
