"""The table of all findings: a group per audit, a row per question, a column per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.blocks import Group, Row, Table
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.section import Section
from snellen.report.sections.titles import title_of
from snellen.report.table import FindingRow, model_heads, row_of, table_row


def finding_rows(results: Results) -> dict[str, list[FindingRow]]:
    """Audit → its rows. Findings between or over several models, and those that a section shows itself, are left out."""
    questions: dict[tuple[Any, ...], dict[str, AnyFinding]] = {}
    for finding in results.findings:
        if finding.model in results.models and finding.name not in _section(finding.audit).elsewhere:
            about = finding.distortions or [finding.label]  # such as which of several maps
            method, settings = getattr(finding.facts, "method", None), finding.facts.settings
            key = (finding.audit, finding.name, finding.on, method, settings, *about)
            while finding.model in questions.get(key, {}):  # no finding takes the place of another of the same model
                key = (*key, finding.label)
            questions.setdefault(key, {})[finding.model] = finding
    audits: dict[str, list[FindingRow]] = {}
    for (audit, *_), findings in questions.items():
        audits.setdefault(audit, []).append(row_of(findings, results))
    for audit, rows in audits.items():
        rows.sort(key=lambda row: row.first.name in _section(audit).last)
    return audits


def findings_table(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> Table:
    """The rows as a table, grouped by the titles of their audits."""
    lines: list[Row | Group] = []
    for audit, questions in rows.items():
        lines.append(Group(title_of(audit, results.task)))
        lines += [table_row(row, results, _section(audit).badge) for row in questions]
    return Table(model_heads(results), tuple(lines))


def _section(audit: str) -> Section:
    return SECTIONS.get(audit, Section())
