"""Protocols: what each audit asks and what it concludes, one file each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from snellen import notation
from snellen.audits.adversarial_backgrounds import AdversarialBackgrounds
from snellen.audits.attention import Attention
from snellen.audits.audit import Audit
from snellen.audits.augmentation import Augmentation
from snellen.audits.background import Background
from snellen.audits.baseline import Baseline, Clean
from snellen.audits.calibration import Calibration
from snellen.audits.concepts import Concepts
from snellen.audits.exam import Exam
from snellen.audits.explanation import Explanation
from snellen.audits.faithfulness import Faithfulness
from snellen.audits.finding import Finding, Trust
from snellen.audits.inside_mask import InsideMask
from snellen.audits.interference import Interference
from snellen.audits.model_differences import differences
from snellen.audits.occluders import Occluders
from snellen.audits.occlusion import Occlusion
from snellen.audits.shape import Shape
from snellen.audits.shift import Shift
from snellen.audits.trust import with_trust
from snellen.data.dataset import Dataset
from snellen.distort.language import from_node
from snellen.errors import UserError

AUDITS: dict[str, type[Audit]] = {
    "occlusion": Occlusion,
    "occluders": Occluders,
    "interference": Interference,
    "shape": Shape,
    "augmentation": Augmentation,
    "background": Background,
    "adversarial_backgrounds": AdversarialBackgrounds,
    "inside_mask": InsideMask,
    "explanation": Explanation,
    "faithfulness": Faithfulness,
    "shift": Shift,
    "concepts": Concepts,
    "attention": Attention,
    "calibration": Calibration,
}


def parse_audits(source: str | Sequence[str | Audit] | None) -> list[Audit]:
    """The audits a text such as `occlusion,interference(grid=4)` names; None means those that suit any data.

    A sequence may mix texts and audits, which derive from `Audit`. `default_audits` lists those of certain data where
    no audit is named.
    """
    if source is None:
        return [audit() for audit in AUDITS.values() if audit.by_default]
    if isinstance(source, str):
        return [notation.build(node, AUDITS, "audit", _argument) for node in notation.read_list(source)]
    return [one for item in source for one in (parse_audits(item) if isinstance(item, str) else [_checked(item)])]


def default_audits(data: Dataset, before: Sequence[str] = ()) -> list[tuple[Audit, str]]:
    """The audits to run on test data where none is named, each with the reason why.

    Those that suit any data, and those whose masks, boxes or cue conflicts the data have. `before` are the audits (as text)
    of a run that is continued: where these were the ones that suit any data, they stay the only ones.
    """
    general = parse_audits(None)
    if [text for text in before if text != str(Baseline())] == [str(one) for one in general]:
        return [(one, "as before in this run folder") for one in general]
    special = [(audit(), audit().suits(data)) for audit in AUDITS.values() if not audit.by_default]
    chosen = [(one, f"chosen because the data have {what}") for one, what in special if what]
    return [*((one, "default") for one in general), *chosen]


def _checked(audit: Any) -> Audit:
    if not isinstance(audit, Audit) or not dataclasses.is_dataclass(audit):
        raise UserError(
            f"expected audits as text or as frozen dataclasses that derive from snellen.audits.Audit, got "
            f"{type(audit).__name__}"
        )
    return audit


def _argument(node: Any) -> Any:
    """Arguments of audits: distortions where they are calls, plain values else."""
    if isinstance(node, tuple):
        return tuple(map(_argument, node))
    return from_node(node) if isinstance(node, notation.Call | notation.Pipe) else node


__all__ = [
    "AUDITS",
    "AdversarialBackgrounds",
    "Attention",
    "Audit",
    "Augmentation",
    "Background",
    "Baseline",
    "Calibration",
    "Clean",
    "Concepts",
    "Exam",
    "Explanation",
    "Faithfulness",
    "Finding",
    "InsideMask",
    "Interference",
    "Occluders",
    "Occlusion",
    "Shape",
    "Shift",
    "Trust",
    "default_audits",
    "differences",
    "parse_audits",
    "with_trust",
]
