"""Why a model answered so: maps of what matters to any torch CNN or transformer, and pictures of them."""

from __future__ import annotations

from typing import Any

from snellen.explain.attention import attention, attention_grids
from snellen.explain.gradcam import gradcam
from snellen.explain.iba import iba
from snellen.explain.overlay import overlay
from snellen.explain.picture import Explanation, explain_images

__all__ = [
    "Beside", "Explanation", "attention", "attention_grids", "dissect", "explain_beside", "explain_images", "gradcam", "iba",
    "overlay",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`dissect`, `explain_beside` and `Beside`, which users find here; they live behind all that an audit needs."""
    if name == "dissect":
        from snellen.concepts.dissect import dissect

        return dissect
    if name in ("Beside", "explain_beside"):
        from snellen.exam import side_by_side

        return getattr(side_by_side, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
