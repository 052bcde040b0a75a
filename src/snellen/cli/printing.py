"""Printing the findings of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.errors import one_line
from snellen.exam.run import Run
from snellen.terminal import show, show_json


def print_run(run: Run, *, as_json: bool, quiet: bool) -> None:
    """The findings as a table (or JSON) and where the report is."""
    results = run.results()
    if as_json:
        show_json(results)
    elif not quiet:
        print_table([("finding", "value", "95% interval", "DI", "looks like", ""), *_rows(results["findings"])])
        for text in dict.fromkeys(one["text"] for one in results["findings"] if one["value"] is None):
            show(f"– {text}")
        if any(one["audit"] == "between" for one in results["findings"]):
            show()
            show("* clear: paired on the same images, p < 0.05 after Holm's correction", end="")
        show()
        if run.task == "classification":
            show("▲ the distortion itself is taken for a class: comparative, not absolute")
        show(f"report: {run.path / 'report.html'}")


def show_outline(outline: Mapping[str, Any]) -> None:
    """What a command would do, by name: lists and tables below it, numbers with their thousands marked."""
    for name, value in outline.items():
        if isinstance(value, list | Mapping):
            lines = value if isinstance(value, list) else [f"{key}: {_listed(one)}" for key, one in value.items()]
            show(f"{name}:")
            for line in lines:
                show(f"  {line}")
        else:
            show(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


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


def _rows(findings: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table in the terminal: each model's name (or that of a pair), and its findings below."""
    by_model: dict[str, list[tuple[str, ...]]] = {}
    for one in findings:
        by_model.setdefault(one["model"], []).append(_row(one))
    return [row for model, rows in by_model.items() for row in ((model, *[""] * (len(rows[0]) - 1)), *rows)]


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    """A finding by the name that --require takes, its numbers and its label, which runs made before do not have."""
    p, trust = one["facts"].get("p_corrected"), one["interference"]
    value, low, high = ("–" if one[k] is None else f"{one[k]:.3f}" for k in ("value", "low", "high"))
    di = "" if trust is None or trust["index"] is None else f"{trust['index']:.2f}{' ▲' if trust['flagged'] else ''}"
    return (
        f"  {one['name']}{' *' if p is not None and p < 0.05 else ''}",
        value,
        f"{low} … {high}",
        di,
        trust["dominant"] if trust else "",
        one.get("label", ""),
    )
