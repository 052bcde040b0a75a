"""Findings: what an audit concludes, one number each, with all a reader needs to judge it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from msgspec.structs import replace as replace_facts

from snellen.audits.facts import NO_FACTS, FindingFacts, OpenFacts, facts_to_json, without_nan
from snellen.audits.label import in_sentence, plain_label
from snellen.audits.run_facts import RunFacts, run_facts
from snellen.engine.keep.read_back import AnswerBlock
from snellen.engine.requests.cell import Cell
from snellen.measure import Estimate, State, accuracy


@dataclass(frozen=True)
class Trust:
    """How far a distortion-based number may be an artefact of its distortion: the DI index beside its yardsticks.

    `index`, `low` and `high` are the estimate of the true index and its interval; `published` is the point estimate of the
    paper. `null95` is the 95% quantile of the latter when errors fall on classes at random; `noise` is the estimate for mild
    Gaussian noise on the same model. `state` says whether the index is `above` chance and noise, `not above`, or `unclear`;
    `flagged` that it is above. Compare it between models; it is not a score.
    """

    index: float
    low: float
    high: float
    std: float
    worst_case: float
    null95: float
    noise: float
    dominant: str
    flagged: bool
    distortion: str
    text: str
    state: State = "unclear"
    published: float = math.nan


@dataclass(frozen=True)
class Finding:
    """One conclusion about one model.

    `name` is what conditions refer to; `label` names its row in tables, and `topic` names it inside a sentence (both made
    of the name where they are not given). `better` says which way is good; `cells` are the questions it rests on (those
    with a distortion give it its `trust`); `facts` are further values, of the type that the audit declares (a mapping where
    it declares none); `per_run` has one value per run. `maker` is the audit that concluded it, which is not stored.
    """

    audit: str
    name: str
    model: str
    value: float
    low: float
    high: float
    n: int
    text: str
    better: Literal["higher", "lower", ""] = ""
    unit: Literal["share", "index", "difference", "count"] = "share"
    cells: tuple[Cell, ...] = ()
    facts: FindingFacts | Mapping[str, Any] = NO_FACTS
    per_run: tuple[float, ...] = ()
    trust: Trust | None = None
    label: str = ""
    topic: str = ""
    maker: object = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.facts, FindingFacts):
            object.__setattr__(self, "facts", OpenFacts(values=dict(self.facts)))
        label = self.label or plain_label(self.name, self.distortions, self.plain_facts, self.on)
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "topic", self.topic or in_sentence(label))

    @property
    def on(self) -> str:
        """The role of the data it is about; empty where it rests on no cells."""
        return self.cells[0].on if self.cells else ""

    @property
    def distortions(self) -> list[str]:
        """The text forms of the distortions of its cells."""
        return [str(cell.distortion) for cell in self.cells]

    @property
    def plain_facts(self) -> dict[str, Any]:
        """The facts by name."""
        assert isinstance(self.facts, FindingFacts)
        return facts_to_json(self.facts)

    def trusting(self, trust: Trust) -> Finding:
        """The same finding with its interference beside it."""
        return replace(self, trust=trust)

    def to_json(self) -> dict[str, Any]:
        """Plain values; nan becomes null."""
        fields = {
            "audit": self.audit,
            "name": self.name,
            "model": self.model,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "better": self.better,
            "unit": self.unit,
            "on": self.on,
            "seed": self.cells[0].seed if self.cells else 0,
            "distortions": self.distortions,
            "facts": self.plain_facts,
            "per_run": list(self.per_run),
            "text": self.text,
            "interference": None if self.trust is None else vars(self.trust),
            "label": self.label,
            "topic": self.topic,
        }
        return without_nan(fields)


def finding(audit: str, name: str, model: str, estimate: Estimate, text: str, **more: Any) -> Finding:
    """A finding of a measure's estimate."""
    return Finding(audit, name, model, estimate.value, estimate.low, estimate.high, estimate.n, text, **more)


def accuracy_finding(
    audit: str, name: str, model: str, block: AnswerBlock, cell: Cell, text: str, **more: Any
) -> Finding:
    """The finding of one cell's accuracy, with one value per run; `more` are further fields of the finding, whose facts
    derive from `RunFacts`."""
    estimate = accuracy(block.score, block.groups)
    per_run = tuple(block.score.mean(1).tolist()) if block.score.size else ()
    facts, of_runs = more.pop("facts", RunFacts()), run_facts(block.score, block.groups)
    facts = replace_facts(facts, **of_runs) if isinstance(facts, RunFacts) else {**facts, **of_runs}
    more = {"better": "higher", "cells": (cell,), "per_run": per_run, "facts": facts, **more}
    return finding(audit, name, model, estimate, text, **more)
