"""Contact sheets: many small pictures with captions on one page, for people to look over."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIDE, GAP, LINE, COLUMNS = 96, 6, 26, 12
MOST_TILES = 360  # of one sheet
WHITE, INK, GROUND = (255, 255, 255), (40, 40, 40), (216, 216, 216)


@dataclass(frozen=True)
class Tile:
    """A picture uint8 [H, W, 3], or with alpha [H, W, 4], and what to write below it, two lines at most."""

    image: np.ndarray
    caption: str


def thumbnail(image: np.ndarray) -> np.ndarray:
    """The picture scaled to fit a tile, in its own aspect."""
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(picture)


def contact_sheet(tiles: Sequence[Tile], title: str) -> bytes:
    """The tiles row by row, under a title, as JPEG."""
    columns = min(COLUMNS, max(len(tiles), 4))
    rows = -(-len(tiles) // columns)
    step = SIDE + GAP
    page = Image.new("RGB", (GAP + columns * step, LINE + GAP + rows * (step + LINE)), WHITE)
    pen = ImageDraw.Draw(page)
    pen.text((GAP, GAP), title, INK, ImageFont.load_default(13))
    font = ImageFont.load_default(10)
    for number, tile in enumerate(tiles):
        left, top = GAP + number % columns * step, LINE + GAP + number // columns * (step + LINE)
        picture = Image.fromarray(thumbnail(tile.image))
        at = (left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2)
        if picture.mode == "RGBA":
            page.paste(GROUND, (left, top, left + SIDE, top + SIDE))
            page.paste(picture, at, picture)
        else:
            page.paste(picture, at)
        pen.multiline_text((left, top + SIDE + 1), tile.caption, INK, font, spacing=1)
    content = io.BytesIO()
    page.save(content, "JPEG", quality=88)
    return content.getvalue()
