"""ImageNet-9 and its like (paper 004): building the variants of any images with boxes, and reading them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from snellen.data.in9.reading import in9

if TYPE_CHECKING:
    from snellen.data.in9.building import Built, build
    from snellen.data.in9.settings import Settings

__all__ = ["Built", "Settings", "build", "in9"]
_PLACES = {"build": "building", "Built": "building", "Settings": "settings"}


def __getattr__(name: str) -> Any:
    """The builder is imported when it is asked for: it needs the distortions, which in turn need the data."""
    if name not in _PLACES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
