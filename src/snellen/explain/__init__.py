"""Why a model answered so: maps of what matters to any torch CNN or transformer, and pictures of them."""

from __future__ import annotations

from snellen.explain.attention_maps import attention, attention_grids
from snellen.explain.gradcam_maps import gradcam
from snellen.explain.iba_maps import iba
from snellen.explain.overlays import overlay
from snellen.lazy_names import finder, lister

# What users find here, but lives behind all that an audit needs; `methods` is a module.
_HOMES = {
    "Beside": "snellen.exam.side_by_side",
    "Explanation": "snellen.exam.explain_pictures",
    "dissect": "snellen.concepts.direct",
    "explain_beside": "snellen.exam.side_by_side",
    "explain_images": "snellen.exam.explain_pictures",
    "methods": "snellen.explain.methods",
}

__all__ = [
    "Beside", "Explanation", "attention", "attention_grids", "dissect", "explain_beside", "explain_images", "gradcam", "iba",
    "methods", "overlay",
]  # fmt: skip
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
