"""One claim of one report beside the planted truth, and the worlds it was made in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Observation:
    """Whether a report `said` a claim of a kind, and whether that would be `true`; `planted` where a true effect is at least as
    large as the report says it could see."""

    kind: str
    said: bool
    true: bool
    planted: bool = False


@dataclass(frozen=True)
class ReportRead:
    """What was read in one report, and what sort of world it is about: `plain`, `two classes`, `few images`, …"""

    observations: tuple[Observation, ...]
    tags: tuple[str, ...]
