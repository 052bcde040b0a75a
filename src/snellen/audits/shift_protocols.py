"""The searches of Volpi & Murino (2019) by name, as settings of the audit `shift`."""

from __future__ import annotations

from typing import Any

from snellen.audits.shift import ShiftAudit
from snellen.errors import unknown

PROTOCOLS: dict[str, dict[str, Any]] = {
    # Section 3.3 and table 1: 1,000 test images, three edits, 10 · (99 + 1) evaluations.
    "mnist": dict(set="mnist", length=3, random=10_000, evaluations=1_000, restarts=1, images=1_000, references=True),
    # Section 5.2: the whole test set, five edits, three evolutions of 100 steps.
    "cifar10": dict(set="cifar10", length=5, random=1_000, evaluations=1_010, restarts=3, images=0),
    # Section 5.3: 30 test images, five edits, three evolutions of 50 steps.
    "camvid": dict(set="camvid", length=5, random=500, evaluations=510, restarts=3, images=30),
    # Section 5.4: four times 1,000 images, three edits (then five: --length 5), six evolutions of 100 steps.
    "faces": dict(set="faces", length=3, random=15_000, evaluations=1_010, restarts=6, images=1_000, subsets=4),
}  # fmt: skip


def published_shift(protocol: str | None, scale: float = 1.0, **changes: Any) -> ShiftAudit:
    """The audit with the settings of a protocol (None: its own defaults), of which `changes` are others.

    `scale` shortens what a protocol asks: random tuples, evaluations and images, each at least as many as make sense. The
    protocol and its scale are named in the findings.
    """
    if protocol is None:
        return ShiftAudit(**changes)
    if protocol not in PROTOCOLS:
        raise unknown("protocol", protocol, PROTOCOLS)
    settings = {**PROTOCOLS[protocol], "protocol": protocol if scale == 1 else f"{protocol} at scale {scale:g}"}
    population = changes.get("population", ShiftAudit.population)
    for name, least in {"random": 10, "evaluations": 2 * population, "images": 10}.items():
        if settings[name]:
            settings[name] = max(least, round(settings[name] * scale))
    return ShiftAudit(**{**settings, **changes})
