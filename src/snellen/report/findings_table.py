"""The table of all findings: a group per audit, a row per question, a column per model."""

from __future__ import annotations

from typing import Any

from snellen.audits import AUDITS, Baseline, Clean
from snellen.report.blocks import Group, Row, Table
from snellen.report.results import Finding, Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.section import Section
from snellen.report.table import FindingRow, model_heads, row_of, table_row

TITLES = {"baseline": Baseline.title, **{name: str(vars(audit)["title"]) for name, audit in AUDITS.items()}}


def finding_rows(results: Results) -> dict[str, list[FindingRow]]:
    """Audit → its rows. Findings between or over several models, and those that a section shows itself, are left out."""
    questions: dict[tuple[Any, ...], dict[str, Finding]] = {}
    for one in results.findings:
        if one["model"] in results.models and one["name"] not in _section(one["audit"]).elsewhere:
            about = one["distortions"] or [one.get("label", "")]  # such as which of several maps
            key = (one["audit"], one["name"], one["on"], one["facts"].get("method"), *about)
            questions.setdefault(key, {})[one["model"]] = one
    audits: dict[str, list[FindingRow]] = {}
    for (audit, *_), findings in questions.items():
        audits.setdefault(audit, []).append(row_of(findings, results))
    for audit, rows in audits.items():
        rows.sort(key=lambda row: row.first["name"] in _section(audit).last)
    return audits


def findings_table(results: Results, rows: dict[str, list[FindingRow]]) -> Table:
    """The rows as a table, grouped by the titles of their audits."""
    lines: list[Row | Group] = []
    for audit, questions in rows.items():
        alone = audit == "baseline" and results.task != "classification"  # without the yardstick
        lines.append(Group(Clean.title if alone else TITLES.get(audit, audit)))
        lines += [table_row(row, results, _section(audit).badge) for row in questions]
    return Table(model_heads(results), tuple(lines))


def _section(audit: str) -> Section:
    return SECTIONS.get(audit, Section())
