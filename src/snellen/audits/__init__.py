"""Protocols: what each audit asks and what it concludes, one file each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from snellen import notation
from snellen.audits.adversarial_backgrounds import AdversarialBackgroundsAudit
from snellen.audits.attention import AttentionAudit
from snellen.audits.audit import Audit
from snellen.audits.augmentation import AugmentationAudit
from snellen.audits.background import BackgroundAudit
from snellen.audits.baseline import BaselineAudit, CleanAudit
from snellen.audits.calibration import CalibrationAudit
from snellen.audits.concepts import ConceptsAudit
from snellen.audits.corruptions import CorruptionsAudit
from snellen.audits.delivery import DeliveryAudit
from snellen.audits.exam import Exam
from snellen.audits.explanation import ExplanationAudit
from snellen.audits.facts import FindingFacts
from snellen.audits.faithfulness import FaithfulnessAudit
from snellen.audits.finding import Finding, Trust
from snellen.audits.inside_mask import InsideMaskAudit
from snellen.audits.interference import InterferenceAudit
from snellen.audits.model_differences import DifferenceFacts, differences
from snellen.audits.occluders import OccludersAudit
from snellen.audits.occlusion import OcclusionAudit
from snellen.audits.replies import RepliesAudit
from snellen.audits.shape import ShapeAudit
from snellen.audits.shift import ShiftAudit
from snellen.audits.stored_finding import StoredFinding, read_finding
from snellen.audits.trust import with_trust
from snellen.data.dataset import Dataset
from snellen.distort.language import from_node
from snellen.errors import UserError, option
from snellen.lazy_names import lister
from snellen.plugins import PluginOrigin, PluginTable, dataclass_of

AUDITS: dict[str, type[Audit]] = {
    "occlusion": OcclusionAudit,
    "occluders": OccludersAudit,
    "interference": InterferenceAudit,
    "shape": ShapeAudit,
    "augmentation": AugmentationAudit,
    "background": BackgroundAudit,
    "adversarial_backgrounds": AdversarialBackgroundsAudit,
    "inside_mask": InsideMaskAudit,
    "explanation": ExplanationAudit,
    "faithfulness": FaithfulnessAudit,
    "shift": ShiftAudit,
    "concepts": ConceptsAudit,
    "attention": AttentionAudit,
    "calibration": CalibrationAudit,
    "corruptions": CorruptionsAudit,
    "delivery": DeliveryAudit,
    "replies": RepliesAudit,
}

FACTS: dict[str, Mapping[str, type[FindingFacts]]] = {
    "baseline": BaselineAudit.facts,
    "between": {"difference": DifferenceFacts},
    **{name: audit.facts for name, audit in AUDITS.items()},
}
"""The types of findings' facts: what findings name as their audit → finding → type."""


def _fit(name: str, thing: object, origin: PluginOrigin) -> type[Audit]:
    """A plug-in's audit, whose facts are read back as it declares them."""
    audit = dataclass_of(Audit, name, thing)
    FACTS[name] = audit.facts
    return audit


PLUGGED = PluginTable("audits", AUDITS, _fit, taken=("baseline", "between"))


def read_findings(content: Mapping[str, Any]) -> list[StoredFinding[Any]]:
    """The findings in the content of findings.json, with the facts that their audits declare.

    >>> from snellen.audits import read_findings
    >>> import json
    >>> from pathlib import Path
    >>> from snellen import audit
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> found = read_findings(json.loads(Path("runs/first/findings.json").read_text()))
    >>> found[0].model
    'texture'
    """
    return [read_finding(entry, FACTS) for entry in content["findings"]]


def parse_audits(source: str | Sequence[str | Audit] | None) -> list[Audit]:
    """The audits a text such as `occlusion,interference(grid=4)` names; None means those that suit any data.

    A sequence may mix texts and audits, which derive from `Audit`. `default_audits` lists those of certain data where
    no audit is named.

    >>> from snellen.audits import parse_audits
    >>> [type(one).__name__ for one in parse_audits("occlusion,interference(grid=4)")]
    ['OcclusionAudit', 'InterferenceAudit']
    """
    if source is None:
        return [audit() for audit in PLUGGED.own() if audit.by_default]
    if isinstance(source, str):
        if not source.strip():
            raise UserError(f"{option('audits')} names no audit; leave it out for those that suit the data")
        return [_parse_audit(node) for node in notation.read_list(source)]
    return [audit for item in source for audit in (parse_audits(item) if isinstance(item, str) else [_checked(item)])]


def default_audits(data: Dataset, before: Sequence[str] = ()) -> list[tuple[Audit, str]]:
    """The audits to run on test data where none is named, each with the reason why. Those of plug-ins run only by name.

    Those that suit any data, and those whose masks, boxes or cue conflicts the data have. `before` are the audits (as text)
    of a run that is continued: where these were the ones that suit any data, they stay the only ones.

    >>> from snellen.audits import default_audits
    >>> from snellen import load_data
    >>> [str(one).partition("(")[0] for one, why in default_audits(load_data("phantom:test?size=32&n=12"))][:2]
    ['occlusion', 'interference']
    """
    general = parse_audits(None)
    if [text for text in before if text != str(BaselineAudit())] == [str(audit) for audit in general]:
        return [(audit, "as before in this run folder") for audit in general]
    special = [(kind(), kind().suits(data)) for kind in PLUGGED.own() if not kind.by_default]
    chosen = [(audit, f"chosen because the data have {what}") for audit, what in special if what]
    return [*((audit, "default") for audit in general), *chosen]


def _parse_audit(node: Any) -> Audit:
    PLUGGED.find(notation.name_in(node))
    audit: Audit = notation.build(node, AUDITS, "audit", _argument)
    return audit


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
    "FACTS",
    "AdversarialBackgroundsAudit",
    "AttentionAudit",
    "Audit",
    "AugmentationAudit",
    "BackgroundAudit",
    "BaselineAudit",
    "CalibrationAudit",
    "CleanAudit",
    "ConceptsAudit",
    "CorruptionsAudit",
    "DeliveryAudit",
    "Exam",
    "ExplanationAudit",
    "FaithfulnessAudit",
    "Finding",
    "InsideMaskAudit",
    "InterferenceAudit",
    "OccludersAudit",
    "OcclusionAudit",
    "RepliesAudit",
    "ShapeAudit",
    "ShiftAudit",
    "Trust",
    "default_audits",
    "differences",
    "parse_audits",
    "read_findings",
    "with_trust",
]
__dir__ = lister(__all__)
