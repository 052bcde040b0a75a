"""Pictures of what segmentation and detection models answer: class maps in colours, and boxes drawn into images."""

from __future__ import annotations

import colorsys
import functools
from collections.abc import Iterable

import numpy as np

from snellen.engine.keep.thumbnail_file import SIDE

# Neighbours in the list are far apart in hue or lightness; pixels without a class are light grey.
_FIRST = (
    "4e79a7 f28e2b 59a14f e15759 b07aa1 edc948 76b7b2 9c755f ff9da7 1f3b5c d4a6c8 8cd17d a0cbe8 b6992d 499894 ffbe7d "
    "86bcb6 d37295 79706e fabfd2"
)
NO_CLASS = (232, 232, 232)
_TRUE, _RIGHT, _WRONG = (255, 255, 255), (46, 160, 67), (215, 58, 73)


@functools.cache
def class_colour(number: int) -> tuple[int, int, int]:
    """The colour of a class by its number: a list of twenty, then hues that go round by the golden ratio."""
    words = _FIRST.split()
    if number < len(words):
        red, green, blue = bytes.fromhex(words[number])
        return red, green, blue
    shade = colorsys.hsv_to_rgb(number * 0.6180339887 % 1, 0.45 + 0.4 * (number % 3) / 2, 0.9 - 0.25 * (number % 2))
    return round(255 * shade[0]), round(255 * shade[1]), round(255 * shade[2])


def picture_of_classes(classes: np.ndarray) -> np.ndarray:
    """uint8 [3, h, w], of a thumbnail's size: a map of classes [H, W] in their colours; a negative number is none."""
    small = _shrunk(classes)
    numbers, places = np.unique(small, return_inverse=True)
    colours = np.array([NO_CLASS if number < 0 else class_colour(int(number)) for number in numbers], np.uint8)
    return colours[places.reshape(small.shape)].transpose(2, 0, 1)


def picture_of_boxes(image: np.ndarray, truth: np.ndarray, boxes: np.ndarray, right: bool) -> np.ndarray:
    """uint8 [3, h, w], of a thumbnail's size: an image [3, H, W] with the true boxes in white, and the detected ones in green
    where the object is found, else in red; its lower left corner has the same colour. Boxes are [n, 4], nan for none."""
    from PIL import Image, ImageDraw

    height, width = image.shape[1:]
    scale = min(1.0, SIDE / max(height, width))
    picture = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
    if scale < 1:
        picture.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    pen = ImageDraw.Draw(picture)
    colour = _RIGHT if right else _WRONG
    for outline, wide, some in ((_TRUE, 1, truth), (colour, 2, boxes)):
        for left, top, end, bottom in _corners(some, scale):
            pen.rectangle((left, top, max(left, end - 1), max(top, bottom - 1)), outline=outline, width=wide)
    side = max(4, max(picture.size) // 10)
    pen.rectangle((0, picture.height - side, side - 1, picture.height - 1), fill=colour)
    return np.asarray(picture).transpose(2, 0, 1)


def _corners(boxes: np.ndarray, scale: float) -> Iterable[tuple[int, ...]]:
    return (tuple(round(float(edge) * scale) for edge in box) for box in boxes if not np.isnan(box).any())


def _shrunk(values: np.ndarray) -> np.ndarray:
    """Every so manieth pixel, so that the picture is no larger than a thumbnail: classes have no mean."""
    height, width = values.shape
    scale = min(1.0, SIDE / max(height, width))
    rows, columns = (
        ((np.arange(max(1, round(side * scale))) + 0.5) * side / max(1, round(side * scale))).astype(np.int64)
        for side in (height, width)
    )
    return values[rows[:, None], columns]
