"""The models side by side: a row per model, as papers compare architectures (Marcu & Prügel-Bennett 2022, B.8)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from snellen.report.blocks import Block, Row, Table, TableCell, note
from snellen.report.glossary import about_di
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, in_unit, is_known, spread


def comparison(results: Results) -> list[Block]:
    """A column per question of the sections that has an answer, each model's number with its spread over runs.

    Nothing for a single model, or where nothing but clean accuracy is known.
    """
    columns = comparison_columns(results)
    if not results.several or len(columns) < 2:
        return []
    labels = [next(iter(column.values())).label for column in columns]
    rows = [
        Row(
            TableCell(model, note=results.runs(model), hue=results.hue(model)),
            tuple(_cell(c.get(model)) for c in columns),
        )
        for model in results.models
    ]
    return [
        Table((TableCell("model"), *map(TableCell, labels)), tuple(rows)),
        note("± is the deviation over runs; one run has none.")
        if results.task != "classification"
        else note(
            f"± is the deviation over runs; one run has none. {about_di()} Beside an accuracy stands that of its distortion for "
            "this model, with the class that takes the new errors (of several squares the most suspicious). Where DI differs "
            "between models, the distortion is not the same test for all of them."
        ),
    ]


def comparison_columns(results: Results) -> list[dict[str, AnyFinding]]:
    """Of each column that has an answer, each model's finding."""
    return list(comparison_questions(results).values())


def comparison_questions(results: Results) -> dict[str, dict[str, AnyFinding]]:
    """The short name of each column that has an answer → each model's finding."""
    questions: dict[str, list[tuple[str, Callable[[AnyFinding], bool]]]] = {}
    for audit, section in SECTIONS.items():
        for name, fits in section.columns.items():
            questions.setdefault(name, []).append((audit, fits))
    columns = {name: column_of(results.findings, question) for name, question in questions.items()}
    return {name: column for name, column in columns.items() if column}


def column_of(
    findings: Sequence[AnyFinding], question: Sequence[tuple[str, Callable[[AnyFinding], bool]]]
) -> dict[str, AnyFinding]:
    """Of the first question that fits and was answered, each model's finding: a run may hold several fills or grids."""
    fitting = [
        finding
        for finding in findings
        if finding.on in ("test", "")
        and is_known(finding.value)
        and any(finding.audit == audit and fits(finding) for audit, fits in question)
    ]
    same = [
        finding
        for finding in fitting
        if (finding.distortions, finding.facts.settings) == (fitting[0].distortions, fitting[0].facts.settings)
    ]
    return {finding.model: finding for finding in reversed(same) if finding.name == fitting[0].name}


def _cell(finding: AnyFinding | None) -> TableCell:
    if finding is None:
        return TableCell(UNKNOWN)
    per_run = [value for value in finding.per_run if value is not None]
    std = statistics.stdev(per_run) if len(per_run) > 1 else None
    text = f"{in_unit(finding.value, finding.unit)}{spread(std, finding.unit)}"
    return TableCell(text, finding.value, badge=di_badge(finding, with_spread=True))
