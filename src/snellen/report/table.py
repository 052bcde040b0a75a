"""Rows of findings: the same question for each model, which model leads in it, and the row of a table that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from snellen.audits.label import in_sentence, plain_label
from snellen.report.blocks import Badge, Cell, Row
from snellen.report.results import Finding, Results
from snellen.report.trust import SIGNS, apart, mark_of
from snellen.report.words import (
    UNKNOWN,
    in_unit,
    in_words,
    index,
    interval,
    is_known,
    spread,
)

SURE = 0.05  # the corrected p-value under which a difference is called clear
CLEAN = "none()"


@dataclass(frozen=True)
class Pair:
    """The paired difference of two models: its corrected p, and the smallest difference that could have been shown."""

    first: str
    second: str
    p: float
    detectable: float | None


@dataclass(frozen=True)
class FindingRow:
    """One question: each model's finding, what its text says of that model alone, and the paired differences."""

    label: str
    topic: str
    detail: str
    findings: Mapping[str, Finding]
    notes: Mapping[str, str]
    pairs: tuple[Pair, ...] = ()

    @property
    def first(self) -> Finding:
        """The first model's finding; audit, name, unit and the better side are the same for all."""
        return next(iter(self.findings.values()))

    @property
    def leader(self) -> str | None:
        """The model that is clearly better than every other, if there is one.

        Clearly: by the paired difference on the same images, corrected for many tests, where there is one (accuracies);
        else by intervals that do not overlap.
        """
        findings = {model: one for model, one in self.findings.items() if is_known(one["value"])}
        if len(findings) < 2 or not self.first["better"]:
            return None
        choose = max if self.first["better"] == "higher" else min
        best = choose(findings, key=lambda model: findings[model]["value"])
        pairs = {frozenset((one.first, one.second)): one.p for one in self.pairs}

        def beaten(model: str) -> bool:
            p = pairs.get(frozenset((best, model)))
            return apart(findings[best], findings[model]) if p is None else p < SURE

        return best if all(model == best or beaten(model) for model in findings) else None


def row_of(findings: Mapping[str, Finding], results: Results) -> FindingRow:
    """The row of one question, from the finding of each model that has one."""
    first = next(iter(findings.values()))
    distorted = [text for text in first["distortions"] if text != CLEAN]
    label, topic = label_and_topic(first)
    head, own = parted({model: one["text"] for model, one in findings.items()})
    plain = len(first["distortions"]) == len(distorted) == 1
    return FindingRow(
        label=label,
        topic=topic,
        detail=distorted[0] if plain else head,
        findings=findings,
        notes=dict.fromkeys(findings, "") if plain else own,
        pairs=_pairs(first, results),
    )


def parted(texts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What the findings of several models say alike, and what each says of its own model; cut at `: `, `; ` or ` (`."""
    heads = [{text, *(text[: cut.start()] for cut in re.finditer(r": |; | \(", text))} for text in texts.values()]
    head = max(set.intersection(*heads), key=len, default="")
    return head, {model: text[len(head) :].lstrip(":; ") for model, text in texts.items()}


def _pairs(of: Finding, results: Results) -> tuple[Pair, ...]:
    """The paired differences between models for one finding."""
    return tuple(
        Pair(facts["first"], facts["second"], facts["p_corrected"], facts["detectable"])
        for one in results.of_audit("between")
        if (facts := one["facts"])["of"] == of["name"] and one["distortions"] == of["distortions"]
        and one["on"] == of["on"]
    )  # fmt: skip


# Blocks


def model_heads(results: Results) -> tuple[Cell, ...]:
    """The head of a table with a column for each model."""
    models = (Cell(model, note=results.runs(model), hue=results.hue(model)) for model in results.models)
    return (Cell(""), *models)


def table_row(row: FindingRow, results: Results, badge: Callable[[Finding], Badge | None]) -> Row:
    """A row with a cell for each model; a dash for one without a finding."""
    best = row.leader
    cells = [
        finding_cell(row.findings[model], badge, row.notes[model], model == best)
        if model in row.findings
        else Cell(UNKNOWN)
        for model in results.models
    ]
    return Row(Cell(row.label, note=row.detail), tuple(cells))


def finding_cell(
    finding: Finding, badge: Callable[[Finding], Badge | None], note: str = "", best: bool = False
) -> Cell:
    """A finding as one cell: its value, interval and badge."""
    value, unit = finding["value"], finding["unit"]
    return Cell(
        in_unit(value, unit),
        value,
        interval(finding["low"], finding["high"], unit),
        badge(finding),
        note,
        best,
    )


def di_badge(finding: Finding, with_spread: bool = False) -> Badge | None:
    """The DI of a finding's distortion with the class that takes the new errors; None where no distortion is involved."""
    trust = trust_of(finding)
    if trust is None:
        return None
    over_runs = spread(trust["std"], "index") if with_spread else ""
    text = f"DI {index(trust['index'])}{over_runs} {trust['dominant'] or UNKNOWN} {trust['sign']}"
    return Badge(text.rstrip(), trust["mark"] == "flagged", trust["text"])


def trust_of(finding: Finding) -> dict[str, Any] | None:
    """A finding's interference with its mark; None where no distortion is involved."""
    interference = finding["interference"]
    if interference is None:
        return None
    mark = mark_of(interference)
    return {**interference, "mark": mark, "sign": SIGNS[mark], "words": in_words(interference["distortion"])}


def label_and_topic(finding: Mapping[str, Any]) -> tuple[str, str]:
    """A row's label, and its topic as a sentence would name it; of a run made before findings had them, by its name."""
    if finding.get("label"):
        return finding["label"], finding["topic"]
    label = plain_label(finding["name"], finding["distortions"], finding["facts"], finding["on"])
    return label, in_sentence(label)
