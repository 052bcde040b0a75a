"""Clips: how things move from frame to frame, in straight lines and whole numbers.

Frame 0 of clip c shows the object where image c of a world without clips has it.
"""

from __future__ import annotations

import numpy as np

from snellen.data.phantom.draws import Draws
from snellen.data.phantom.fixed_point import ONE, TURN

STRIDE = ONE // 16  # the most that a thing moves from one frame to the next, along each axis
SWING = TURN // 256  # the most that it turns meanwhile


def moved(
    draws: Draws, name: str, start: np.ndarray, reach: tuple[np.ndarray, np.ndarray], frame: np.ndarray, frames: int
) -> np.ndarray:
    """Where a thing is in a frame, along one axis: on its way from `start` to an end drawn within `reach`, int64 [T]."""
    if frames == 1:
        return start
    low, high = reach
    farthest = STRIDE * (frames - 1)
    end = draws.whole(f"{name} end", np.maximum(low, start - farthest), np.minimum(high, start + farthest))
    return start + (end - start) * frame // (frames - 1)


def turning(draws: Draws, start: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """How far a thing is turned in a frame, in 1/4096 of a full turn, int64 [T]."""
    return start + draws.whole("turn a frame", -SWING, SWING) * frame
