"""Findings for other people's pages: a section of a model card, Hugging Face's evaluation results, and a badge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.atomic import encode_yaml
from snellen.engine.keep.run_folder import RunFolder
from snellen.report.blocks import Block, Bullets, Heading, Row, Table, TableCell, heads, note, prose
from snellen.report.findings_table import finding_rows
from snellen.report.gate import gate_verdict
from snellen.report.glossary import about_di
from snellen.report.render.markdown import markdown_of_blocks
from snellen.report.results import AnyFinding, Results
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, count_of, in_unit, interval, is_known

TASKS = {
    "classification": "image-classification",
    "segmentation": "image-segmentation",
    "detection": "object-detection",
}
MAKER = "snellen"
MOST_ROWS = 30  # of a card


def card_of(folder: RunFolder) -> str:
    """The section of a model card, in Markdown: the first 30 rows of the report's table of findings, a column per model."""
    return markdown_of_blocks(card_blocks(Results.of(folder)))


def card_blocks(results: Results) -> list[Block]:
    """Heading, what was shown, the numbers with their intervals, what to check first and what was required."""
    data = results.data["test"]
    shown = f"{count_of(data.samples, 'image')} of {count_of(len(data.classes), 'class', 'classes')}"
    opening = f"Measured by snellen {results.header.snellen} on {shown}: {data.text}."
    every = [row for rows in finding_rows(results).values() for row in rows]
    known = [row for row in every if any(is_known(own.value) for own in row.findings.values())]
    rows = tuple(
        Row(TableCell(row.label), tuple(_number(row.findings.get(model)) for model in results.models))
        for row in known[:MOST_ROWS]
    )
    blocks: list[Block] = [Heading("Robustness"), prose(opening), Table(heads("question", *results.models), rows)]
    if len(known) > MOST_ROWS:
        blocks.append(
            note(f"The first {MOST_ROWS} of {count_of(len(known), 'question')}; the others are in findings.json.")
        )
    about = f" {about_di()} Where it does (▲), a drop may be an artefact."
    blocks.append(note("In brackets the 95% interval.", about if results.task == "classification" else ""))
    if warnings := results.header.warnings:
        blocks += [
            Heading("Check before you believe", 3),
            Bullets(tuple((f"{own.text} — {own.advice}",) for own in warnings)),
        ]
    if results.header.gate is not None:
        blocks += [Heading("What was required", 3), prose(gate_verdict(results.header.gate))]
    return blocks


def evaluation_results(folder: RunFolder) -> str:
    """Hugging Face's `model-index` as YAML, for the head of a model card: every finding that has a value."""
    results = Results.of(folder)
    index = [{"name": model, "results": _evaluations(results, model)} for model in results.models]
    return encode_yaml({"model-index": index})


def badge_of(folder: RunFolder) -> str:
    """An SVG badge: whether the gate is open where something was required, else the clean accuracy of the first model."""
    results = Results.of(folder)
    gate = results.header.gate
    if gate is not None:
        holding = len(gate.having("holds"))
        colour = "#b3261e" if not gate.passed else "#2e7d32" if holding == len(gate.outcomes) else "#8a5a00"
        return _badge(f"gate {'open' if gate.passed else 'closed'}: {holding} of {len(gate.outcomes)} hold", colour)
    clean = results.clean(next(iter(results.models)))
    if clean is None or not is_known(clean.value):
        return _badge("accuracy unknown", "#5f6368")
    return _badge(f"accuracy {in_unit(clean.value, 'share')} ({interval(clean.low, clean.high, 'share')})", "#005a9c")


def _number(finding: AnyFinding | None) -> TableCell:
    if finding is None or not is_known(finding.value):
        return TableCell(UNKNOWN)
    between = interval(finding.low, finding.high, finding.unit) if is_known(finding.low) else ""
    return TableCell(in_unit(finding.value, finding.unit), finding.value, interval=between, badge=di_badge(finding))


def _evaluations(results: Results, model: str) -> list[Mapping[str, Any]]:
    """One entry per role of the data, each with the findings that are about it."""
    known = [own for own in results.of_model(model) if is_known(own.value)]
    entries: list[Mapping[str, Any]] = []
    for on in dict.fromkeys(own.on or "test" for own in known):
        text = results.data[on].text if on in results.data else on
        entries.append(
            {
                "task": {"type": TASKS[results.task]},
                "dataset": {"type": text.partition("?")[0], "name": text, "split": on},
                "metrics": [_metric(own, results.header.snellen) for own in known if (own.on or "test") == on],
            }
        )
    return entries


def _metric(finding: AnyFinding, version: str) -> Mapping[str, Any]:
    args: dict[str, Any] = {"low": finding.low, "high": finding.high, "n": finding.n, "snellen": version}
    if finding.distortions and finding.distortions != ["none()"]:
        args["distortions"] = list(finding.distortions)
    if finding.interference is not None and is_known(finding.interference.index):
        args |= {"di": finding.interference.index, "di_state": finding.interference.state}
    return {"type": finding.name, "value": finding.value, "name": finding.label, "args": args}


def _badge(text: str, colour: str) -> str:
    """Two boxes side by side: our name, and a text; widths by the number of letters, which `textLength` holds to."""
    from markupsafe import escape

    left, right = 62, 16 + 7 * len(text)
    words = str(escape(text))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{MAKER}: {words}">'
        f"<title>{MAKER}: {words}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#3c4043"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14" textLength="{left - 16}">{MAKER}</text>'
        f'<text x="{left + right / 2}" y="14" textLength="{right - 16}">{words}</text></g></svg>\n'
    )
