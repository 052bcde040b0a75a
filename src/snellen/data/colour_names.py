"""The eleven basic colour terms (Berlin & Kay 1969), and which of them a pixel is called, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

COLOURS = ("black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")


def colour_terms(rgb: np.ndarray) -> np.ndarray:
    """The term of each colour uint8 [..., 3]: its position in COLOURS plus 1, uint8 [...]."""
    red, green, blue = (rgb[..., channel].astype(np.int32) for channel in range(3))
    return np.asarray(terms_of_channels(red, green, blue, np.where)).astype(np.uint8)


def terms_of_channels(red: Any, green: Any, blue: Any, where: Callable[[Any, Any, Any], Any]) -> Any:
    """The term of each colour, its position in COLOURS plus 1, from int32 channels; `where` is that of their library, NumPy or
    torch.

    A colour with little saturation is black, grey or white by its brightest channel. The others are told by hue in
    degrees (red 345 to 15, orange to 45, yellow to 70, green to 165, blue to 255, purple to 315, pink to 345); dark
    oranges and dull reds are brown, dark yellows green, dark pinks purple and pale reds pink.
    """
    light = where(red > green, where(red > blue, red, blue), where(green > blue, green, blue))
    dark = where(red < green, where(red < blue, red, blue), where(green < blue, green, blue))
    chroma = light - dark
    saturation = chroma * 255 // where(light > 1, light, 1)
    sector = where(light == red, green - blue, where(light == green, blue - red, red - green))
    base = where(light == red, 0, where(light == green, 120, 240))
    hue = (base + 60 * sector // where(chroma > 1, chroma, 1)) % 360
    reddish = (hue >= 345) | (hue < 15)
    rules = (
        ((saturation < 38) & (light >= 215), "white"),
        ((light < 40) | ((saturation < 38) & (light < 60)), "black"),
        (saturation < 38, "grey"),
        (reddish & (light >= 200) & (saturation < 150), "pink"),
        (reddish & (light < 190) & (saturation < 205), "brown"),
        (reddish, "red"),
        ((hue < 45) & (light < 215), "brown"),
        (hue < 45, "orange"),
        ((hue < 70) & (light >= 150), "yellow"),
        (hue < 165, "green"),
        (hue < 255, "blue"),
        ((hue >= 315) & (light >= 180), "pink"),
    )
    terms: Any = COLOURS.index("purple") + 1
    for condition, term in reversed(rules):  # the first that holds counts
        terms = where(condition, COLOURS.index(term) + 1, terms)
    return terms
