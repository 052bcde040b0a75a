"""ImageNet-9 and datasets in its layout (Xiao et al. 2021): how they are read. `snellen.build.in9` makes them."""

from __future__ import annotations

from snellen.data.in9.reading import load_in9
from snellen.lazy_names import finder, lister

# Public names; the builder itself lives in `snellen.build`, which imports this room.
_HOMES = {"build": "snellen.build.in9"}

__all__ = ["build", "load_in9"]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
