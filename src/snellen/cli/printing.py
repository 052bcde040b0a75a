"""Printing the findings of an audit."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import one_line
from snellen.exam.run import Run
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.report.results import AnyFinding


@dataclass(frozen=True)
class PrintChoice:
    """What of a run is printed: nothing (`quiet`), everything as JSON, `every` finding of models, those of `pairs` of models;
    else the first screen."""

    quiet: bool = False
    as_json: bool = False
    every: bool = False
    pairs: bool = False


def print_run(run: Run, shown: PrintChoice, *, reported: bool = True) -> None:
    """What is wrong with each model, on one screen; or all findings, those of pairs of models, or everything as JSON."""
    if shown.as_json:
        show_json(run.results())
    elif shown.every or shown.pairs:
        print_findings(run, shown)
        if reported:
            show(f"report: {run.path / 'report.html'}")
    elif not shown.quiet:
        from snellen.report.first_screen import first_screen
        from snellen.report.render.terminal import screen_lines
        from snellen.report.results import Results

        width = shutil.get_terminal_size((80, 24)).columns
        for line in screen_lines(first_screen(Results.of(run)), run.path, width=width, reported=reported):
            show(line)


def print_findings(run: Run, shown: PrintChoice) -> None:
    """All findings as a table by the names that --require takes; those of pairs of models apart."""
    findings = [finding for finding in run.stored_findings() if (shown.pairs if _is_of_pair(finding) else shown.every)]
    print_table([("finding", "value", "95% interval", "DI", "new errors go to", ""), *_rows(findings)])
    for text in dict.fromkeys(finding.text for finding in findings if finding.value is None):
        show(f"– {text}")
    show()
    for line in _legend(findings):
        show(line)


def _is_of_pair(finding: AnyFinding) -> bool:
    return finding.audit == "between"


def _legend(findings: Sequence[AnyFinding]) -> list[str]:
    """What the marks of the table mean: those that stand in it."""
    from snellen.report.glossary import SIGN_MEANINGS, sentence_on

    every = [finding.plain_facts.get("corrected_over", "") for finding in findings if _is_clear(finding)]
    over = "; ".join(family for family in dict.fromkeys(every) if family)
    star = [f"* clear: p < 0.05 after Holm's correction{' over ' if over else ''}{over}"] if every else []
    signs = {finding.interference.sign for finding in findings if finding.interference}
    marks = [f"{sign} {words}" for sign, words in SIGN_MEANINGS.items() if sign in signs]
    return [*star, *marks, *([f"DI: {sentence_on('DI')}"] if marks else [])]


def _is_clear(finding: AnyFinding) -> bool:
    p = finding.plain_facts.get("p_corrected")
    return p is not None and p < 0.05


def show_outline(outline: Mapping[str, Any]) -> None:
    """What a command would do, by name: lists and tables below it, numbers with their thousands marked."""
    for name, value in outline.items():
        if isinstance(value, list | Mapping):
            lines = value if isinstance(value, list) else [f"{key}: {_listed(entry)}" for key, entry in value.items()]
            show(f"{name}:")
            for line in lines:
                show(f"  {_facts(line) if isinstance(line, Mapping) else line}")
        else:
            show(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


def _facts(entry: Mapping[str, Any]) -> str:
    """An entry of a list, in one line: numbers with their thousands marked."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int | float) else str(value)
        for name, value in entry.items()
    )


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in aligned columns; the first is the head."""
    rows = [[one_line(text) for text in row] for row in rows]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        show("  ".join(text.ljust(width) for text, width in zip(row, wide)).rstrip())
        if number == 0:
            show("  ".join("─" * width for width in wide))


def _rows(findings: Sequence[AnyFinding]) -> list[tuple[str, ...]]:
    """The rows of the table in the terminal: each model's name (or that of a pair), and its findings below."""
    by_model: dict[str, list[tuple[str, ...]]] = {}
    for finding in findings:
        by_model.setdefault(finding.model, []).append(_row(finding))
    return [row for model, rows in by_model.items() for row in ((model, *[""] * (len(rows[0]) - 1)), *rows)]


def _row(finding: AnyFinding) -> tuple[str, ...]:
    """A finding by the name that --require takes, its numbers and its label."""
    trust = finding.interference
    value, low, high = (
        "–" if number is None else f"{number:.3f}" for number in (finding.value, finding.low, finding.high)
    )
    di = "" if trust is None or trust.index is None else f"{trust.index:.2f} {trust.sign}".rstrip()
    return (
        f"  {finding.name}{' *' if _is_clear(finding) else ''}",
        value,
        f"{low} … {high}",
        di,
        trust.taken_for if trust else "",
        finding.label,
    )
