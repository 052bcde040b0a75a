"""The eleven basic colour terms (Berlin & Kay 1969), and which of them a pixel is called, in whole numbers."""

from __future__ import annotations

import numpy as np

COLOURS = ("black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")


def colour_terms(rgb: np.ndarray) -> np.ndarray:
    """The term of each colour uint8 [..., 3]: its position in COLOURS plus 1, uint8 [...].

    A colour with little saturation is black, grey or white by its brightest channel. The others are told by hue in
    degrees (red 345 to 15, orange to 45, yellow to 70, green to 165, blue to 255, purple to 315, pink to 345); dark
    oranges and dull reds are brown, dark yellows green, dark pinks purple and pale reds pink.
    """
    red, green, blue = (rgb[..., channel].astype(np.int32) for channel in range(3))
    light, dark = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    chroma, saturation = light - dark, (light - dark) * 255 // np.maximum(light, 1)
    sector = np.where(light == red, green - blue, np.where(light == green, blue - red, red - green))
    base = np.where(light == red, 0, np.where(light == green, 120, 240))
    hue = (base + 60 * sector // np.maximum(chroma, 1)) % 360
    rules = (
        ((saturation < 38) & (light >= 215), "white"),
        ((light < 40) | ((saturation < 38) & (light < 60)), "black"),
        (saturation < 38, "grey"),
        (((hue >= 345) | (hue < 15)) & (light >= 200) & (saturation < 150), "pink"),
        (((hue >= 345) | (hue < 15)) & (light < 190) & (saturation < 205), "brown"),
        ((hue >= 345) | (hue < 15), "red"),
        ((hue < 45) & (light < 215), "brown"),
        (hue < 45, "orange"),
        ((hue < 70) & (light >= 150), "yellow"),
        (hue < 165, "green"),
        (hue < 255, "blue"),
        ((hue >= 315) & (light >= 180), "pink"),
    )
    purple = np.uint8(COLOURS.index("purple") + 1)
    terms = [np.uint8(COLOURS.index(term) + 1) for _, term in rules]
    return np.select([condition for condition, _ in rules], terms, purple)
