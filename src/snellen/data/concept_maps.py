"""Concepts that pixels show: names with their categories, and maps that say where each is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

MOST_CONCEPTS = 32_000  # maps are int16


class Concept(NamedTuple):
    """Something people have a name for, such as `red` of the category `colour`."""

    category: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.category})"


@dataclass(frozen=True)
class ConceptMaps:
    """What the data know of their pixels. `read` gives for samples at some positions int16 maps [n, `maps`, H, W]: the place of
    a concept plus 1, 0 where there is none. Concepts that lie over each other, such as an object and its part, are in
    different maps."""

    concepts: tuple[Concept, ...]
    maps: int
    read: Callable[[Sequence[int]], np.ndarray]

    def at(self, rows: np.ndarray) -> ConceptMaps:
        """Those of some rows only, in the order given."""
        read = self.read
        return replace(self, read=lambda positions: read([int(rows[p]) for p in positions]))
