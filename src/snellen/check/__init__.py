"""The gate: conditions on findings and on changes since a baseline, decided by intervals and paired tests."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "Baseline": "snellen.check.baseline_file",
    "CheckRequest": "snellen.check.request",
    "Condition": "snellen.check.condition",
    "GateRecord": "snellen.engine.keep.gate_record",
    "OutcomeRecord": "snellen.engine.keep.gate_record",
    "decide": "snellen.check.deciding",
    "gate": "snellen.check.gatekeeper",
    "parse_condition": "snellen.check.condition",
    "read_baseline": "snellen.check.baseline_file",
    "to_junit": "snellen.check.junit",
    "to_markdown": "snellen.check.summary",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
