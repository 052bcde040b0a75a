"""Attention under occlusion: how much of what a transformer attends to lies on objects, occluders and background."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "AttentionMass": "snellen.attention.survey",
    "draw_attention": "snellen.attention.pictures",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
