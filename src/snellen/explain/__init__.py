"""Why a model answered so: maps of what matters to any torch CNN or transformer, and pictures of them."""

from __future__ import annotations

from typing import Any

from snellen.explain.attention import attention
from snellen.explain.gradcam import gradcam
from snellen.explain.iba import iba
from snellen.explain.picture import Explanation, explain_images, overlay

__all__ = ["Beside", "Explanation", "attention", "explain_beside", "explain_images", "gradcam", "iba", "overlay"]


def __getattr__(name: str) -> Any:
    """`explain_beside` and `Beside`, which users find here; they run an audit, so they live behind all that it needs."""
    if name in ("Beside", "explain_beside"):
        from snellen.exam import side_by_side

        return getattr(side_by_side, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
