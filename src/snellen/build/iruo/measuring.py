"""What masks tell of an object: how much of it is hidden, and what hides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hiding:
    """Pixels of an object that are hidden, of all its pixels inside the frame; the instance that hides most of them (None where
    no annotated one hides any) and how many of them it hides."""

    hidden: int
    full: int
    occluder: int | None
    covered: int

    @property
    def share(self) -> float:
        """The share of the object that is hidden."""
        return self.hidden / self.full


def measure_hiding(instance: int, full: np.ndarray, visible: Mapping[int, np.ndarray]) -> Hiding:
    """How an instance is hidden, from its full mask and the visible masks [H, W] of all instances in the frame.

    Visible masks of others that lie on its hidden pixels are in front of it. Of equals the first is the occluder.
    """
    behind = full & ~visible[instance]
    pixels, hidden = int(full.sum()), int(behind.sum())
    rows, columns = np.flatnonzero(behind.any(1)), np.flatnonzero(behind.any(0))
    occluder, covered = None, 0
    if hidden:
        window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        for other, mask in visible.items():
            overlap = 0 if other == instance else int((mask[window] & behind[window]).sum())
            if overlap > covered:
                occluder, covered = other, overlap
    return Hiding(hidden, pixels, occluder, covered)
