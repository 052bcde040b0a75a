"""Concepts: which units of a layer follow something people have a name for (network dissection, Bau et al. 2017)."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "Dissected": "snellen.concepts.direct",
    "Dissection": "snellen.concepts.dissection",
    "dissect": "snellen.concepts.direct",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
