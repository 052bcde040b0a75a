"""How occluded an object is: 0 not at all, 1 up to half of it hidden, 2 more (Kassaw et al. 2024, section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

UNKNOWN = -1
LEVELS = (0, 1, 2)
TOLERANCE = 1e-4  # of a hidden share, up to which an object counts as not occluded
WORDS = {
    "no_occlusion": 0,
    "slight_occlusion": 1,
    "severe_occlusion": 2,  # OVIS
    "none": 0,
    "slight": 1,
    "severe": 2,
    "0": 0,
    "1": 1,
    "2": 2,
}


def stated_level(level: str | int | None) -> int | None:
    """The level that an annotation states, UNKNOWN where it states none; None where it is no level."""
    return UNKNOWN if level is None else WORDS.get(str(level))


def level_of(hidden: int, full: int, tolerance: float = 0.0) -> int:
    """The level of an object of which so many of its `full` pixels are hidden; exactly half hidden is slight.

    Up to the share `tolerance` counts as nothing.
    """
    return 0 if hidden <= tolerance * full else 1 if 2 * hidden <= full else 2


def levels_of(shares: ArrayLike, tolerance: float = TOLERANCE) -> np.ndarray:
    """int64: the levels of objects by their hidden shares, as `level_of` gives them; UNKNOWN where a share is nan."""
    share = np.asarray(shares, np.float64)
    return np.where(np.isnan(share), UNKNOWN, np.where(share <= tolerance, 0, np.where(share <= 0.5, 1, 2)))
