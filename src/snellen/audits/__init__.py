"""Protocols: what is asked and what is concluded, one file each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen import notation
from snellen.audits.adversarial_backgrounds import AdversarialBackgrounds
from snellen.audits.augmentation import Augmentation
from snellen.audits.background import Background
from snellen.audits.baseline import Baseline
from snellen.audits.exam import Audit, Exam
from snellen.audits.finding import Finding, Trust
from snellen.audits.interference import Interference
from snellen.audits.model_differences import differences
from snellen.audits.occlusion import Occlusion
from snellen.audits.shape import Shape
from snellen.audits.trust import with_trust
from snellen.distort.language import from_node

AUDITS: dict[str, type] = {
    "occlusion": Occlusion,
    "interference": Interference,
    "shape": Shape,
    "augmentation": Augmentation,
    "background": Background,
    "adversarial_backgrounds": AdversarialBackgrounds,
}


def parse_audits(source: str | Sequence[Any] | None) -> list[Any]:
    """The audits a text such as `occlusion,interference(grid=4)` names; None means all that suit any data and model, with their
    defaults (those marked `by_default = False` are asked for by name)."""
    if source is None:
        return [audit() for audit in AUDITS.values() if getattr(audit, "by_default", True)]
    if isinstance(source, str):
        return [notation.build(node, AUDITS, "audit", _argument) for node in notation.read_list(source)]
    return [one for item in source for one in (parse_audits(item) if isinstance(item, str) else [item])]


def _argument(node: Any) -> Any:
    """Arguments of audits: distortions where they are calls, plain values else."""
    if isinstance(node, tuple):
        return tuple(map(_argument, node))
    return from_node(node) if isinstance(node, notation.Call | notation.Pipe) else node


__all__ = [
    "AUDITS",
    "AdversarialBackgrounds",
    "Audit",
    "Augmentation",
    "Background",
    "Baseline",
    "Exam",
    "Finding",
    "Interference",
    "Occlusion",
    "Shape",
    "Trust",
    "differences",
    "parse_audits",
    "with_trust",
]
