"""What the section on occluders draws and tabulates, taken out of the findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from snellen.audits.occluders.levels import LevelAccuracyFacts
from snellen.audits.occluders.people import PEOPLE, HumanAccuracyFacts
from snellen.audits.occluders.types import AUDIT, lattice_px
from snellen.audits.stored_finding import StoredFinding
from snellen.measure.occlusion_table import CLEAN
from snellen.report.blocks import Block, FactLine, Line, Span, TableCell
from snellen.report.results import AnyFinding, Results
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, interval, is_known, percent


class AtLevel(Protocol):
    """Facts that name a level."""

    @property
    def level(self) -> int: ...

    @property
    def level_name(self) -> str: ...


def levels_in(facts: Iterable[AtLevel]) -> dict[int, str]:
    """The levels that facts are about, in order, with the first name that each has."""
    names: dict[int, str] = {}
    for place in facts:
        names.setdefault(place.level, place.level_name)
    return dict(sorted(names.items()))


@dataclass(frozen=True)
class OccluderValues:
    """The findings of the audit, by type of occluder and level."""

    results: Results

    @cached_property
    def levels(self) -> list[StoredFinding[LevelAccuracyFacts]]:
        """What models keep under each type at each level."""
        return self.results.having(LevelAccuracyFacts)

    @cached_property
    def human(self) -> list[StoredFinding[HumanAccuracyFacts]]:
        """What people keep."""
        return [finding for finding in self.results.having(HumanAccuracyFacts) if finding.name == "human_accuracy"]

    @cached_property
    def unoccluded(self) -> dict[str, AnyFinding]:
        """Each model's accuracy without occlusion."""
        own = (finding for finding in self.results.of_audit(AUDIT) if finding.name == "unoccluded_accuracy")
        return {finding.model: finding for finding in own}

    @property
    def rows(self) -> list[str]:
        """The models, then people where there are any; without the model that people were taken from."""
        return [*self.results.models, *([PEOPLE] if self.human else [])]

    def at(self, model: str, kind: str, level: int) -> AnyFinding | None:
        """A model's accuracy, or that of people, under a type at a level; level 0 is unoccluded."""
        if model == PEOPLE:
            place = (CLEAN if level == 0 else kind, level)
            human = (finding for finding in self.human if (finding.facts.type, finding.facts.level) == place)
            return next(human, None)
        if level == 0:
            return self.unoccluded.get(model)
        own = (finding for finding in self.of_type(kind) if finding.model == model)
        return next((finding for finding in own if finding.facts.level == level), None)

    def of_type(self, kind: str) -> list[StoredFinding[LevelAccuracyFacts]]:
        """What models keep under one type."""
        return [finding for finding in self.levels if finding.facts.type == kind]

    def types(self, family: str) -> list[str]:
        """The types of a family, as the audit lists them."""
        return list(dict.fromkeys(finding.facts.type for finding in self.levels if finding.facts.family == family))

    def level_names(self, kind: str) -> dict[int, str]:
        """The levels of a type by their place, that without occlusion first; those that were not asked for are left out."""
        own = [finding.facts for finding in self.of_type(kind)]
        return {0: "none" if own and own[0].scale == "levels" else "0%", **levels_in(own)}

    def share_of(self, kind: str) -> str:
        """What hidden shares of a type are shares of, object or image."""
        return next((finding.facts.share_of for finding in self.of_type(kind)), "object")

    def short_name(self, kind: str) -> str:
        """A type at the head of a narrow column: lattices by the size of their squares."""
        size = next((lattice_px(finding.facts.distortions) for finding in self.of_type(kind)), None)
        return kind.replace("_", "-") if size is None else f"{size} px"

    def points(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a type: level by level, what is known."""
        names = self.level_names(kind).items()
        places = ((model, name, self.at(model, kind, level)) for model in self.rows for level, name in names)
        return [
            point(finding, model, name) for model, name, finding in places if finding is not None and known(finding)
        ]

    # Blocks

    def keys(self) -> list[Block]:
        """The legend of lines: the models with their dots, and people."""
        people: tuple[Line, ...] = ((Span("people (dashed)", "bold"),),) if PEOPLE in self.rows else ()
        items = (*self.results.keys(), *people)
        return [FactLine(items)] if items else []

    def model_cell(self, model: str) -> TableCell:
        """A model with its dot, or people."""
        return TableCell(model, bold=True) if model == PEOPLE else TableCell(model, hue=self.results.own_hue(model))


def known(finding: AnyFinding) -> bool:
    """Whether a finding has a value."""
    return is_known(finding.value)


def point(finding: AnyFinding, model: str, level: str) -> dict[str, Any]:
    """A point of a line chart."""
    return {"model": model, "level": level, "value": finding.value, "low": finding.low, "high": finding.high}


def accuracy_cell(finding: AnyFinding | None) -> TableCell:
    """An accuracy with its interval and the DI of its occluder."""
    if finding is None or not known(finding):
        return TableCell(UNKNOWN)
    ends = interval(finding.low, finding.high, "share")
    return TableCell(percent(finding.value), finding.value, ends, di_badge(finding))
