"""Delivery: answers that change with how a picture is sent, beside the noise floor."""

from __future__ import annotations

from snellen.audits.delivery import ChangedFacts
from snellen.audits.families import SURE
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Heading, Row, Table, TableCell, heads, lead
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.section import Section
from snellen.report.words import in_words, interval, is_known, percent


def delivery_blocks(results: Results) -> list[Block]:
    """A row per model and way of delivery, the noise floor first; nothing where the audit was not asked for."""
    changes = results.having(ChangedFacts)
    if not changes:
        return []
    rows = []
    for model in results.models:
        own = [finding for finding in results.findings if finding.model == model]
        rows += [
            _floor_row(results, floor) for floor in own if (floor.audit, floor.name) == ("delivery", "changed_again")
        ]
        rows += [_row(results, change) for change in changes if change.model == model]
    head = heads(
        "", "sent as", "answers changed", "beyond the noise floor", "right before, wrong after", "p (corrected)"
    )
    return [
        Heading("Delivery"),
        lead("Answers that change with the encoding and the size of a picture. The first row of a model is its noise floor: the "
             "same pixels sent again."),
        Table(head, tuple(rows)),
    ]  # fmt: skip


def _floor_row(results: Results, floor: AnyFinding) -> Row:
    first = TableCell(floor.model, hue=results.own_hue(floor.model))
    return Row(first, (TableCell("the same pixels"), _share(floor), *[TableCell("")] * 3))


def _row(results: Results, change: StoredFinding[ChangedFacts]) -> Row:
    facts = change.facts
    beyond = f"{percent(facts.beyond)} ({interval(facts.beyond_low, facts.beyond_high, 'difference')})"
    clear = is_known(facts.p_corrected) and facts.p_corrected < SURE
    p = f"{facts.p_corrected:.2g}{' *' if clear else ''}" if is_known(facts.p_corrected) else ""
    cells = (
        TableCell(in_words(change.distortions[0])),
        _share(change),
        TableCell(beyond if is_known(facts.beyond) else ""),
        TableCell(percent(facts.worse)),
        TableCell(p),
    )
    return Row(TableCell(change.model, hue=results.own_hue(change.model)), cells)


def _share(changed: AnyFinding) -> TableCell:
    return TableCell(f"{percent(changed.value)} ({interval(changed.low, changed.high, 'share')})", changed.value)


DELIVERY = Section(
    blocks=delivery_blocks,
    columns={"noise floor": lambda finding: finding.name == "changed_again"},
    meanings=meanings("Noise floor"),
)
