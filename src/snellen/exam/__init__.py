"""The whole exam: from a request to a run with findings and a report."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "AuditRequest": "snellen.exam.request",
    "Beside": "snellen.exam.side_by_side",
    "Outline": "snellen.exam.outline",
    "RequirementFailed": "snellen.exam.conditions",
    "Run": "snellen.exam.run",
    "audit": "snellen.exam.auditing",
    "compare_models": "snellen.exam.comparing",
    "explain_beside": "snellen.exam.side_by_side",
    "load_run": "snellen.exam.run",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
