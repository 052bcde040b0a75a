"""What a gate required of a run and what came of it: a verdict and a table, for the report and for pull requests."""

from __future__ import annotations

import re
from typing import Literal

from snellen.engine.keep.gate_record import GateRecord, OutcomeRecord, State
from snellen.report.blocks import Block, Bullets, Heading, Row, Table, TableCell, heads, lead, note
from snellen.report.glossary import about_di
from snellen.report.results import Results
from snellen.report.words import UNKNOWN, count_of, in_unit, interval, join_words, points

TONES: dict[State, Literal["bad", "warn", "good"]] = {
    "fails": "bad",
    "undecided": "warn",
    "holds": "good",
}  # in this order


def gate_section(results: Results) -> list[Block]:
    """The section of a report; nothing where nothing was required."""
    record = results.header.gate
    return [] if record is None else [Heading("What was required"), *gate_blocks(record)]


def gate_blocks(record: GateRecord) -> list[Block]:
    """The verdict in a sentence, a row for each condition and finding, and how it was decided."""
    ordered = [outcome for state in TONES for outcome in record.having(state)]
    head = heads("condition", "model", "outcome", "measured", "")
    blocks: list[Block] = [lead(gate_verdict(record)), Table(head, tuple(map(_row, ordered)))]
    if record.notices:
        blocks.append(Bullets(tuple((text,) for text in record.notices)))
    return [*blocks, note(*_rules(record))]


def gate_verdict(record: GateRecord) -> str:
    """Whether the gate is open, and how many conditions fail, are undecided and hold."""
    counts = [(state, len(record.having(state))) for state in TONES]
    plural = {"fails": "fail", "holds": "hold"}
    parts = [f"{count} {state if count == 1 else plural.get(state, state)}" for state, count in counts if count]
    against = "" if record.baseline is None else f", compared with {record.baseline.source}"
    word = "Open" if record.passed else "Closed"
    return f"{word}: of {count_of(len(record.outcomes), 'condition')} {join_words(parts)}{against}."


def _row(outcome: OutcomeRecord) -> Row:
    cells = (
        TableCell(outcome.model),
        TableCell(outcome.state, tone=TONES[outcome.state]),
        _measured(outcome),
        TableCell(_more(outcome), tone="soft"),
    )
    return Row(TableCell(outcome.condition, note=outcome.label, tone="code", title=outcome.text), cells)


def _measured(outcome: OutcomeRecord) -> TableCell:
    if outcome.value is None or not outcome.unit:
        return TableCell(UNKNOWN)
    text = points(outcome.value) if outcome.unit == "difference" else in_unit(outcome.value, outcome.unit)
    between = interval(outcome.low, outcome.high, outcome.unit) if outcome.low is not None else ""
    return TableCell(text, outcome.value, interval=between)


def _more(outcome: OutcomeRecord) -> str:
    """What would decide it, what could have been seen or, of an attribute, what it is."""
    if not outcome.unit:
        return outcome.text
    if outcome.state == "undecided" and outcome.needed is not None:
        return f"about {count_of(outcome.needed, 'image')} would decide it"
    if outcome.visible is not None and outcome.state != "fails":
        return f"{100 * outcome.visible:.1f} points beyond the bound would mostly have failed"
    return ""


def _rules(record: GateRecord) -> tuple[str, ...]:
    """How outcomes were decided, and what DI is where a condition names it."""
    over = f", corrected by Holm's rule over {count_of(record.tests, 'test')}" if record.tests > 1 else ""
    return (
        "A condition holds where the whole 95% interval keeps the bound, and fails where the whole interval breaks it and a "
        f"one-sided test at 2.5% does{over}. All else is undecided. ",
        "Undecided conditions close the gate. " if record.undecided == "fail" else "",
        about_di() if any(re.search(r"\bdi\b", outcome.condition) for outcome in record.outcomes) else "",
    )
