"""The models side by side: a row per model, as papers compare architectures (Marcu & Prügel-Bennett 2022, B.8)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from snellen.report.blocks import Block, Cell, Heading, Row, Table, note
from snellen.report.results import Finding, Results
from snellen.report.sections import SECTIONS
from snellen.report.table import di_badge, label_and_topic
from snellen.report.words import UNKNOWN, in_unit, is_known, spread


def comparison(results: Results) -> list[Block]:
    """A column per question of the sections that has an answer, each model's number with its spread over runs.

    Nothing for a single model, or where nothing but clean accuracy is known.
    """
    columns = comparison_columns(results)
    if not results.several or len(columns) < 2:
        return []
    labels = [label_and_topic(next(iter(column.values())))[0] for column in columns]
    rows = [
        Row(Cell(model, note=results.runs(model), hue=results.hue(model)), tuple(_cell(c.get(model)) for c in columns))
        for model in results.models
    ]
    return [
        Heading("The models side by side"),
        Table((Cell("model"), *map(Cell, labels)), tuple(rows)),
        note("± is the deviation over runs; one run has none.")
        if results.task != "classification"
        else note(
            "± is the deviation over runs; one run has none. DI beside an accuracy is that of its distortion for this "
            "model, with the class that takes the new errors (of several squares the most suspicious). Where DI differs "
            "between models, the distortion is not the same test for all of them."
        ),
    ]


def comparison_columns(results: Results) -> list[dict[str, Finding]]:
    """Of each column that has an answer, each model's finding."""
    questions: dict[str, list[tuple[str, Callable[[Finding], bool]]]] = {}
    for audit, section in SECTIONS.items():
        for name, fits in section.columns.items():
            questions.setdefault(name, []).append((audit, fits))
    return [column for question in questions.values() if (column := _column(results.findings, question))]


def _column(
    findings: Sequence[Finding], question: Sequence[tuple[str, Callable[[Finding], bool]]]
) -> dict[str, Finding]:
    """Of the first question that fits and was answered, each model's finding: a run may hold several fills or grids."""
    fitting = [
        one
        for one in findings
        if one["on"] in ("test", "")
        and is_known(one["value"])
        and any(one["audit"] == audit and fits(one) for audit, fits in question)
    ]
    same = [one for one in fitting if one["distortions"] == fitting[0]["distortions"]]
    return {one["model"]: one for one in reversed(same) if one["name"] == fitting[0]["name"]}


def _cell(finding: Finding | None) -> Cell:
    if finding is None:
        return Cell(UNKNOWN)
    value, unit = finding["value"], finding["unit"]
    per_run = [one for one in finding["per_run"] if is_known(one)]
    std = statistics.stdev(per_run) if len(per_run) > 1 else None
    return Cell(f"{in_unit(value, unit)}{spread(std, unit)}", value, badge=di_badge(finding, with_spread=True))
