"""Rows of findings: the same question for each model, which model leads in it, and the row of a table that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from snellen.audits.facts import UNSET
from snellen.audits.families import SURE
from snellen.audits.model_differences import DifferenceFacts
from snellen.audits.stored_finding import StoredFinding, apart
from snellen.report.blocks import Badge, Row, TableCell
from snellen.report.noise_floor import noise_note
from snellen.report.results import AnyFinding, Results
from snellen.report.words import (
    UNKNOWN,
    in_unit,
    index,
    interval,
    is_known,
    spread,
)

CLEAN = "none()"


@dataclass(frozen=True)
class FindingRow:
    """One question: each model's finding, what its text says of that model alone, and the paired differences."""

    label: str
    topic: str
    detail: str
    findings: Mapping[str, AnyFinding]
    notes: Mapping[str, str]
    pairs: tuple[DifferenceFacts, ...] = ()

    @property
    def first(self) -> AnyFinding:
        """The first model's finding; audit, name, unit and the better side are the same for all."""
        return next(iter(self.findings.values()))

    @property
    def leader(self) -> str | None:
        """The model that is clearly better than every other, if there is one.

        Clearly: by the paired difference on the same images, corrected for many tests, where there is one (accuracies);
        else by intervals that do not overlap.
        """
        values = {model: finding.value for model, finding in self.findings.items() if is_known(finding.value)}
        if len(values) < 2 or not self.first.better:
            return None
        choose = max if self.first.better == "higher" else min
        best = choose(values, key=lambda model: values[model] or 0.0)
        return best if all(model == best or self.is_clearly_better(best, model) for model in values) else None

    def is_clearly_better(self, model: str, other: str) -> bool:
        """Whether one model is clearly better than another, by the paired difference or by intervals, as `leader` says."""
        first, second = self.findings[model], self.findings[other]
        if not (is_known(first.value) and is_known(second.value)) or not self.first.better:
            return False
        if (first.value > second.value) != (self.first.better == "higher") or first.value == second.value:
            return False
        p = {frozenset((pair.first, pair.second)): pair.p_corrected for pair in self.pairs}.get(
            frozenset((model, other))
        )
        return apart(first, second) if p is None else p < SURE


def row_of(findings: Mapping[str, AnyFinding], results: Results) -> FindingRow:
    """The row of one question, from the finding of each model that has one."""
    first = next(iter(findings.values()))
    distorted = [text for text in first.distortions if text != CLEAN]
    head, own = parted({model: finding.text for model, finding in findings.items()})
    plain = len(first.distortions) == len(distorted) == 1
    return FindingRow(
        label=first.label,
        topic=first.topic,
        detail=distorted[0] if plain else head,
        findings=findings,
        notes=dict.fromkeys(findings, "") if plain else own,
        pairs=_pairs(first, results),
    )


def corrected_note(findings: Iterable[StoredFinding[Any]]) -> str:
    """Over which tests the p-values of findings are corrected; earlier runs did not say."""
    every = (getattr(finding.facts, "corrected_over", UNSET) for finding in findings)
    families = dict.fromkeys(family for family in every if isinstance(family, str))
    return f"p is after Holm’s correction over {'; '.join(families)}." if families else ""


def parted(texts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What the findings of several models say alike, and what each says of its own model; cut at `: `, `; ` or ` (`."""
    heads = [{text, *(text[: cut.start()] for cut in re.finditer(r": |; | \(", text))} for text in texts.values()]
    head = max(set.intersection(*heads), key=len, default="")
    return head, {model: text[len(head) :].lstrip(":; ") for model, text in texts.items()}


def _pairs(of: AnyFinding, results: Results) -> tuple[DifferenceFacts, ...]:
    """The paired differences between models for one finding."""
    return tuple(
        pair.facts
        for pair in results.having(DifferenceFacts)
        if (pair.facts.of, pair.distortions, pair.on) == (of.name, of.distortions, of.on)
    )


# Blocks


def model_heads(results: Results) -> tuple[TableCell, ...]:
    """The head of a table with a column for each model."""
    models = (TableCell(model, note=results.runs(model), hue=results.hue(model)) for model in results.models)
    return (TableCell(""), *models)


def table_row(row: FindingRow, results: Results, badge: Callable[[AnyFinding], Badge | None]) -> Row:
    """A row with a cell for each model; a dash for one without a finding."""
    best = row.leader
    cells = [
        finding_cell(row.findings[model], badge, _note(row, model, results), model == best)
        if model in row.findings
        else TableCell(UNKNOWN)
        for model in results.models
    ]
    return Row(TableCell(row.label, more=row.detail), tuple(cells))


def _note(row: FindingRow, model: str, results: Results) -> str:
    """What a row says of one model alone, and how far the model's own noise goes, where it is known."""
    return "; ".join(filter(None, (row.notes[model], noise_note(results, row.findings[model]))))


def finding_cell(
    finding: AnyFinding, badge: Callable[[AnyFinding], Badge | None], note: str = "", best: bool = False
) -> TableCell:
    """A finding as one cell: its value, interval and badge."""
    shown = in_unit(finding.value, finding.unit)
    ends = interval(finding.low, finding.high, finding.unit)
    return TableCell(shown, finding.value, ends, badge(finding), note, best)


def di_badge(finding: AnyFinding, with_spread: bool = False) -> Badge | None:
    """The DI of a finding's distortion, with the class that takes more new errors than by chance; None without a distortion."""
    trust = finding.interference
    if trust is None:
        return None
    over_runs = spread(trust.std, "index") if with_spread else ""
    parts = (f"DI {index(trust.index)}{over_runs}", trust.taken_for, trust.sign)
    return Badge(" ".join(filter(None, parts)), trust.mark == "flagged", trust.text)
