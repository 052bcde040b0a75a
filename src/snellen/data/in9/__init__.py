"""ImageNet-9 and datasets in its layout (Xiao et al. 2021): how they are read. `snellen.build.in9` makes them."""

from __future__ import annotations

from typing import Any

from snellen.data.in9.reading import in9

__all__ = ["Built", "Settings", "build", "in9"]


def __getattr__(name: str) -> Any:
    """`snellen.data.in9.build` is a public name; the builder itself lives in `snellen.build`, which imports this room."""
    if name in ("Built", "Settings", "build"):
        from snellen.build import in9 as builder

        return getattr(builder, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
