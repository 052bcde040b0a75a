"""Label maps as PNG files with a palette."""

from __future__ import annotations

import numpy as np
from PIL import Image

from snellen.build.png_file import encode_picture


def palette_png(labels: np.ndarray) -> bytes:
    """A label map uint8 [H, W] as a PNG whose values are the labels and whose palette is Pascal VOC's."""
    image = Image.fromarray(labels.astype(np.uint8), mode="P")
    image.putpalette(voc_palette().tobytes())
    return encode_picture(image)


def voc_palette() -> np.ndarray:
    """Pascal VOC's 256 colours, uint8 [256, 3].

    The bits of a label go to red, green and blue in turn, the lowest three to the channels' highest bits, so that small
    numbers get colours far apart: 0 black, 1 dark red, 2 dark green, 3 dark yellow.
    """
    labels = np.arange(256)
    colours = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        colours[:, bit % 3] |= ((labels >> bit & 1) << (7 - bit // 3)).astype(np.uint8)
    return colours
