"""Datasets made from datasets and written to files: each builder has a `build`, the phantom world an `export`."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "diffuse": "snellen.build.diffuse",
    "hts": "snellen.build.hts",
    "in9": "snellen.build.in9",
    "iruo": "snellen.build.iruo",
    "occluders": "snellen.build.occluders",
    "phantom": "snellen.build.phantom",
    "synthetic": "snellen.build.synthetic",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
