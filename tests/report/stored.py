"""Findings as they are read back, for tests that need only a few of their fields."""

from __future__ import annotations

from typing import Any

from snellen.audits.facts import NO_FACTS, FindingFacts
from snellen.audits.stored_finding import StoredFinding, StoredInterference

NUMBERS = dict.fromkeys(("index", "low", "high", "std", "worst_case", "null95", "noise"))


def stored(facts: FindingFacts = NO_FACTS, **fields: Any) -> StoredFinding[Any]:
    """A finding with these fields; numbers are not known unless they are given."""
    usual = {
        "audit": "some",
        "name": "share",
        "model": "mine",
        "value": None,
        "low": None,
        "high": None,
        "n": 10,
        "better": "",
    }
    usual |= {
        "unit": "share",
        "on": "test",
        "seed": 0,
        "distortions": [],
        "per_run": [],
        "text": "",
        "interference": None,
    }
    return StoredFinding(facts=facts, **{**usual, "label": "Share", "topic": "the share", **fields})


def interference(**fields: Any) -> StoredInterference:
    """An interference with these fields."""
    usual = {**NUMBERS, "noise": 0.1, "dominant": "", "flagged": False, "distortion": "none()", "text": ""}
    return StoredInterference(**{**usual, **fields})
