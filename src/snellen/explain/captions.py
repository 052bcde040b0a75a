"""Captions below pictures of maps: the method, the class that is explained, and the scale of the colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from snellen.explain.overlays import overlay

PAPER, INK = (255, 255, 255), (40, 40, 40)
LINE, GAP, BAR = 15, 4, 8  # pixels: a line of text, the space around it, and the bar of colours
SIZE = 11


@dataclass(frozen=True)
class Caption:
    """What stands below one picture of a row: lines of text, and whether its colours need a `scale`."""

    lines: tuple[str, ...]
    scale: bool = False


def with_captions(row: np.ndarray, captions: Sequence[Caption]) -> np.ndarray:
    """Pictures of equal width side by side, uint8 [H, W, 3], with their captions in a strip below."""
    width = row.shape[1] // len(captions)
    tall = max(len(caption.lines) for caption in captions) * LINE + (BAR + LINE + GAP) * any(c.scale for c in captions)
    strip = Image.new("RGB", (row.shape[1], tall + 2 * GAP), PAPER)
    pen, font = ImageDraw.Draw(strip), ImageFont.load_default(SIZE)
    for number, caption in enumerate(captions):
        left, top = number * width + GAP, GAP
        room = width - 2 * GAP
        for line in caption.lines:
            pen.text((left, top), _cut(line, room, font), INK, font)
            top += LINE
        if caption.scale and room > 0:
            strip.paste(Image.fromarray(_bar(room)), (left, top + GAP))
            pen.text((left, top + GAP + BAR), "0", INK, font)
            most = "its maximum"
            pen.text((left + room - pen.textlength(most, font), top + GAP + BAR), most, INK, font)
    return np.concatenate([row, np.asarray(strip)])


def _bar(width: int) -> np.ndarray:
    """The colours of a map from 0 to its maximum over grey, uint8 [BAR, width, 3]."""
    return overlay(np.full((BAR, width, 3), 160, np.uint8), np.tile(np.linspace(0, 1, width), (BAR, 1)))


def _cut(text: str, room: int, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> str:
    """The text, or as much of it as there is room for."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(f"{text}…") > room:
        text = text[:-1]
    return f"{text}…" if text else ""
