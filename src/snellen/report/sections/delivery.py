"""Delivery: answers that change with how a picture is sent, beside the noise floor."""

from __future__ import annotations

from snellen.audits.delivery import ChangedFacts
from snellen.audits.families import SURE
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, FactLine, Heading, Line, Panels, Row, Span, Table, TableCell, heads, lead
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.section import Section
from snellen.report.words import in_words, interval, is_known, percent

SAME = "the same pixels"


def delivery_blocks(results: Results) -> list[Block]:
    """A figure, and a row per model and way of delivery, the noise floor first; nothing where the audit was not asked for."""
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
        FactLine(results.keys()),
        *_figure(results),
        Table(head, tuple(rows)),
    ]  # fmt: skip


def _figure(results: Results) -> list[Block]:
    """The share of answers that each way of delivery changes, the noise floor first."""
    questions: dict[str, list[AnyFinding]] = {}
    for finding in results.of_audit("delivery"):
        if finding.name in ("changed_again", "answers_changed"):
            words = SAME if finding.name == "changed_again" else in_words(finding.distortions[0])
            questions.setdefault(words, []).append(finding)
    figure = interval_dots("Answers that change", questions, results, "share of the answers", whole=False)
    return [Panels((figure,))] if figure else []


def delivery_headline(results: Results) -> Line:
    """What changes most answers of each model."""
    parts: list[str | Span] = []
    for model in results.models:
        own = [change for change in results.having(ChangedFacts) if change.model == model and is_known(change.value)]
        if own:
            most = max(own, key=lambda change: change.value or 0.0)
            value = Span(percent(most.value), "bold")
            ends = Span(f" [{interval(most.low, most.high, 'share')}]", "soft")
            named = [Span(f"{model} ", hue=results.hue(model))] if results.several else []
            parts += ["; " if parts else "Answers changed most: ", *named, value, ends]
            parts += [f" by {in_words(most.distortions[0])}"]
    return tuple(parts)


def _floor_row(results: Results, floor: AnyFinding) -> Row:
    first = TableCell(floor.model, hue=results.own_hue(floor.model))
    return Row(first, (TableCell(SAME), _share(floor), *[TableCell("")] * 3))


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
    headline=delivery_headline,
    columns={"noise floor": lambda finding: finding.name == "changed_again"},
    meanings=meanings("Answers changed", "Noise floor"),
)
