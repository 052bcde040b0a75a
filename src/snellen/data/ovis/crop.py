"""What is cut out of a frame around an object (Kassaw et al. 2024, section 3)."""

from __future__ import annotations

import numpy as np

MARGIN = 20  # pixels on every side


def crop_box(
    box: tuple[float, float, float, float], width: int, height: int, margin: int = MARGIN, clip: bool = True
) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 (exclusive) of the crop around a box x, y, width, height in a frame.

    The box in whole pixels; its shorter side extended by half the difference at both ends, then all sides by the margin, then
    clipped to the frame: at its border a crop is not square, unless it is not clipped. Around a box that does not meet the frame
    it has no area.
    """
    x0, y0, x1, y1 = int(box[0]), int(box[1]), int(box[0] + box[2]), int(box[1] + box[3])
    if max(x0, 0) >= min(x1, width) or max(y0, 0) >= min(y1, height):
        return 0, 0, 0, 0
    if not clip:  # what lies outside anyway would only be padding, however much it is
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)
    wider = (x1 - x0) - (y1 - y0)
    across, down = int(max(-wider, 0) / 2), int(max(wider, 0) / 2)
    x0, y0, x1, y1 = x0 - across - margin, y0 - down - margin, x1 + across + margin, y1 + down + margin
    return (max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)) if clip else (x0, y0, x1, y1)


def cut(pixels: np.ndarray, crop: tuple[int, int, int, int]) -> np.ndarray:
    """The pixels [H, W] or [H, W, C] of a crop; 0 where it reaches out of the frame."""
    height, width = pixels.shape[:2]
    x0, y0, x1, y1 = crop
    part = pixels[max(y0, 0) : min(y1, height), max(x0, 0) : min(x1, width)]
    outside = [(max(-y0, 0), max(y1 - height, 0)), (max(-x0, 0), max(x1 - width, 0))]
    if not any(map(any, outside)):
        return part
    return np.pad(part, [*outside, *[(0, 0)] * (pixels.ndim - 2)])
