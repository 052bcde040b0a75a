"""The chapters of a page: one per audit, closed to its headline, with its figures, table, definitions and command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec import UNSET

from snellen.report.blocks import (
    Block,
    Bullets,
    Chapter,
    Command,
    Definitions,
    Details,
    Entry,
    Heading,
    Line,
    Span,
    Table,
    note,
)
from snellen.report.comparison import column_of
from snellen.report.glossary import about_di
from snellen.report.pages.origin import audit_command
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.section import SPREAD_FROM, Section
from snellen.report.sections.titles import title_of
from snellen.report.table import FindingRow, model_heads, table_row
from snellen.report.words import in_unit, interval


def chapters(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> list[Chapter]:
    """A chapter for each audit that has something to show, in the order of the sections; those without a section come last."""
    order = list(dict.fromkeys([*SECTIONS, *rows]))
    return [chapter for audit in order for chapter in _of_audit(results, audit, rows.get(audit, ()))]


def _of_audit(results: Results, audit: str, rows: Sequence[FindingRow]) -> list[Chapter]:
    """The chapter of an audit; where a run has two of one kind that are told apart, that of each by itself."""
    every = results.settings_of(audit)
    if not every:
        chapter = _chapter(results, audit, rows, "")
        return [chapter] if chapter else []
    every_chapter = []
    for settings in every:
        own = [row for row in rows if row.first.facts.settings in (settings, UNSET)]
        every_chapter.append(_chapter(results.with_settings(audit, settings), audit, own, settings))
    return [chapter for chapter in every_chapter if chapter]


def _chapter(results: Results, audit: str, rows: Sequence[FindingRow], settings: str) -> Chapter | None:
    section = SECTIONS.get(audit, Section())
    blocks = section.blocks(results)
    if not blocks and not rows:
        return None
    title = _title(results, audit, blocks)
    measured = [row for row in rows if not is_missing(row)]
    table = Table(model_heads(results), tuple(table_row(row, results, section.badge) for row in measured))
    numbers: list[Block] = [Heading("All numbers", 3), table] if measured else []
    return Chapter(
        f"{title} ({settings})" if settings else title,
        headline_of(results, audit, section),
        (
            *_about_marks(results, audit, section),
            *_lowered(blocks, title),
            *numbers,
            *section.published(results),
            *_definitions(section.meanings),
            *_command(results, audit),
            *_incomplete([row for row in rows if is_missing(row)]),
        ),
        anchor_of(audit, settings),
    )


def _title(results: Results, audit: str, blocks: Sequence[Block]) -> str:
    """What the audit is called; of one without a title the first heading of its section."""
    title = title_of(audit, results.task)
    if title != audit:
        return title
    return next((block.text for block in blocks if isinstance(block, Heading)), audit)


def anchor_of(audit: str, settings: str = "") -> str:
    """The address of a chapter on its page."""
    letters = "".join(char if char.isalnum() else "-" for char in f"{audit} {settings}".strip().lower())
    return "-".join(filter(None, letters.split("-")))


def _lowered(blocks: Sequence[Block], title: str) -> list[Block]:
    """The blocks of a section below the title of its chapter: headings of a whole section go down one level, and one that says
    the title again is left out."""
    whole = [block for block in blocks if isinstance(block, Heading) and block.level == 2 and block.text != title]
    lower = 1 if whole else 0
    rest = [block for block in blocks if not (isinstance(block, Heading) and block.level == 2 and block.text == title)]
    return [replace(block, level=block.level + lower) if isinstance(block, Heading) else block for block in rest]


def is_missing(row: FindingRow) -> bool:
    """Whether a row says only why something was not measured, of any model."""
    return all(own.value is None and own.n == 0 and not own.distortions for own in row.findings.values())


def headline_of(results: Results, audit: str, section: Section) -> Line:
    """What the closed chapter tells: one number of each model, of many models the lowest and the highest."""
    if callable(section.headline):
        return section.headline(results)
    column = _headline_column(results, audit, section)
    if not column:
        return ()
    label = f"{next(iter(column.values())).label}: "
    if not results.several:
        return (label, *_number(next(iter(column.values()))))
    if len(column) < SPREAD_FROM:
        parts = [_of_model(finding, results) for finding in column.values()]
        return (label, *(part for place, own in enumerate(parts) for part in ((("; ",) if place else ()) + own)))
    ends = sorted(column.values(), key=lambda finding: finding.value or 0.0)
    return (label, "from ", *_of_model(ends[0], results), " to ", *_of_model(ends[-1], results))


def _headline_column(results: Results, audit: str, section: Section) -> dict[str, AnyFinding]:
    """The finding of each model that the headline tells, in the order of the models."""
    if section.headline:
        questions = [(audit, lambda finding: finding.name == section.headline)]
    else:
        questions = [(audit, fits) for fits in section.columns.values()]
    for question in questions:
        if column := column_of(results.findings, [question]):
            return {model: column[model] for model in results.models if model in column}
    return {}


def _of_model(finding: AnyFinding, results: Results) -> Line:
    return (Span(f"{finding.model} ", hue=results.hue(finding.model)), *_number(finding))


def _number(finding: AnyFinding) -> Line:
    """A value with its interval."""
    value = Span(in_unit(finding.value, finding.unit), "bold")
    if finding.low is None or finding.high is None:
        return (value,)
    return (value, Span(f" [{interval(finding.low, finding.high, finding.unit)}]", "soft"))


def _about_marks(results: Results, audit: str, section: Section) -> list[Block]:
    """What DI is, in a chapter that shows it beside numbers and whose first sentence does not say it."""
    shown = any(finding.interference for finding in results.of_audit(audit))
    return [note(about_di())] if shown and "DI" not in section.meanings else []


def _definitions(meanings: Mapping[str, str]) -> list[Block]:
    """How the numbers of an audit are defined."""
    if not meanings:
        return []
    entries = tuple(Entry(term, (meaning,)) for term, meaning in meanings.items())
    return [Details("How each number is defined", (Definitions(entries),))]


def _incomplete(rows: Sequence[FindingRow]) -> list[Block]:
    """What would complete the chapter, each reason once."""
    reasons = dict.fromkeys(finding.text for row in rows for finding in row.findings.values())
    return [Heading("Not measured here", 3), Bullets(tuple((reason,) for reason in reasons))] if reasons else []


def _command(results: Results, audit: str) -> list[Block]:
    """The line that asks this audit alone."""
    text = audit_command(results.facts, audit)
    return [Details("The exact command", (Command(text),))] if text else []
