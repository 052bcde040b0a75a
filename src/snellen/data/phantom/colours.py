"""The colours of an image: ramps of four colours, for its scene and its things."""

from __future__ import annotations

import numpy as np

from snellen.data.phantom.draws import PhantomDraws
from snellen.data.phantom.objects import Things
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES

TONES = 256  # of a ramp; its four colours stand at tones 0, 85, 170 and 255
HUES = 1536  # six sectors of 256


def hue_colour(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """RGB 0 to 255 [B, 3] of a hue in 0 … HUES − 1 and saturation and value in 0 … 255."""
    pure = np.stack([abs(hue - 768) - 256, 512 - abs(hue - 512), 512 - abs(hue - 1024)], axis=1).clip(0, 255)
    return value[:, None] * (255 * 255 - saturation[:, None] * (255 - pure)) // (255 * 255)


def scene_colours(draws: PhantomDraws, scene: np.ndarray) -> np.ndarray:
    """Four colours [B, 4, 3] of each image's scene: the scene's own, with the light of that day."""
    own = np.array([s.colours for s in SCENES.values()], np.int64)[scene]
    light = draws.whole("scene light", 200, 280)
    tint = np.stack([draws.whole(f"scene tint {channel}", -16, 16) for channel in "rgb"], axis=1)
    return (own * light[:, None, None] // 256 + tint[:, None, :]).clip(0, 255)


def hue_degrees(hue: int) -> int:
    """The middle of a thing's hue on the colour circle, in degrees; there are as many hues as classes."""
    return hue * 360 // len(SHAPES)


def thing_colours(things: Things) -> np.ndarray:
    """Four colours [T, 4, 3] of each thing: from a vivid one of its hue to a second, far from it in brightness."""
    draws = things.draws
    shade = HUES // len(SHAPES) // 4  # half the circle, so that the hues of two classes never meet
    hue = (things.hue * HUES // len(SHAPES) + draws.whole("shade of hue", -shade, shade)) % HUES
    first = hue_colour(hue, draws.whole("object saturation", 150, 255), draws.whole("object value", 190, 255))
    bright = first @ np.array([77, 150, 29]) >> 8
    second_hue = draws.whole("second hue", 0, HUES - 1)
    dark = hue_colour(second_hue, draws.whole("second saturation", 60, 220), draws.whole("second dark", 60, 110))
    pale = hue_colour(second_hue, draws.whole("second saturation", 60, 220) // 4, draws.whole("second pale", 225, 255))
    second = np.where((bright > 128)[:, None], dark, pale)
    return np.stack([first, (2 * first + second) // 3, (first + 2 * second) // 3, second], axis=1)


def ramps(colours: np.ndarray) -> np.ndarray:
    """The colour of every tone, packed as red + 2^8 green + 2^16 blue in uint32 [R, TONES], from four colours [R, 4, 3]."""
    # Channels first and tones last: long inner loops are what makes this fast.
    stops = np.moveaxis(colours.astype(np.uint16), 2, 0)[..., None]
    step = np.arange(85, dtype=np.uint16)
    between = (stops[:, :, :-1] * (85 - step) + stops[:, :, 1:] * step + np.uint16(42)) // np.uint16(85)
    red, green, blue = between.reshape(3, len(colours), TONES - 1).astype(np.uint32)
    packed = np.empty((len(colours), TONES), np.uint32)
    packed[:, :-1] = red | green << 8 | blue << 16
    packed[:, -1] = colours[:, 3] @ np.array([1, 1 << 8, 1 << 16])
    return packed
