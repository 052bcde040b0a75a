"""A run for other programs: its answers as one table, as samples of FiftyOne, and as a dataset of Hugging Face."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {"FORMATS": "snellen.export.formats", "export_run": "snellen.export.formats"}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
