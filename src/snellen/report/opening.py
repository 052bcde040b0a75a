"""The first screen as blocks: the models ranked, and of each its verdict and a strip of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.report.blocks import (
    Badge,
    Bar,
    Block,
    Bullets,
    CardBlock,
    Command,
    Details,
    Heading,
    Line,
    Row,
    Span,
    Table,
    TableCell,
    heads,
    note,
    prose,
)
from snellen.report.first_screen import FirstScreen, KeyFinding, ModelVerdict, first_screen
from snellen.report.pictured import Pictured
from snellen.report.ranking import ModelRanking, RankedModel
from snellen.report.results import AnyFinding, Results
from snellen.report.strip import strip_of
from snellen.report.table import FindingRow
from snellen.report.verdict import CAVEAT, at_chance, between, verdict_definitions, verdict_of
from snellen.report.words import UNKNOWN, in_unit, interval, is_known

OPEN_CARDS = 3  # models whose strips stand on the page; those of more are folded away
COLUMNS = 5  # of the ranked table; all are in the chapter that sets models side by side
STRIPS: Line = (
    "Each strip is one image; below it the accuracy on all images under the same modification, as a bar from 0 to 100% with its "
    "95% interval. The dotted line is the accuracy on unmodified images. ✓ and ✗: the answer to the pictured image. ",
    Span("▲ taken for", "flag"),
    ": errors pile up on this class, more than by chance and under mild noise, so the modification itself may be taken for it. ",
)


def opening(pictured: Pictured, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    """The ranked models, the verdict of each with its pictures, and what is said between them."""
    results = pictured.results
    screen = first_screen(results)
    verdicts = {verdict.model: verdict for verdict in screen.verdicts}
    order = [ranked.model for ranked in screen.ranking.models] if screen.ranking else list(verdicts)
    cards = [_card(verdicts[model], pictured) for model in order]
    more = cards[OPEN_CARDS:]
    legend = (*STRIPS, CAVEAT) if results.task == "classification" else STRIPS[:1]
    return [
        *_ranked(screen.ranking, results),
        *cards[:OPEN_CARDS],
        *([Details(f"The {len(more)} models behind them", tuple(more))] if more else []),
        note(*legend),
        *_between(results, rows),
        *_next(screen),
    ]


def brief_opening(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    """The same without pictures: every sentence of each verdict."""
    screen = first_screen(results)
    cards = []
    for verdict in screen.verdicts:
        sentences = prose(" ".join(verdict.sentences))
        blocks = (sentences, verdict_definitions(verdict_of(results, verdict.model), results))
        cards.append(CardBlock(verdict.model, blocks, hue=results.hue(verdict.model)))
    caveat = [note(CAVEAT)] if results.task == "classification" else []
    return [Heading("Verdict"), *_ranked(screen.ranking, results), *cards, *_between(results, rows), *caveat]


def _ranked(ranking: ModelRanking | None, results: Results) -> list[Block]:
    """The models in order, with the number and the interval of each column."""
    if ranking is None:
        return []
    labels = [_label(ranking, place) for place in range(len(ranking.columns))][:COLUMNS]
    head = (TableCell("model"), *(TableCell(name, title=label) for name, label in zip(ranking.columns, labels)))
    return [Table(head, tuple(_ranked_row(ranked, results) for ranked in ranking.models)), note(ranking.rule)]


def _label(ranking: ModelRanking, place: int) -> str:
    """What a column is about, in the words of its findings."""
    return next((finding.label for ranked in ranking.models if (finding := ranked.findings[place])), "")


def _ranked_row(ranked: RankedModel, results: Results) -> Row:
    cells = [_ranked_cell(finding, results.hue(ranked.model)) for finding in ranked.findings[:COLUMNS]]
    doubt = "not told from guessing" if ranked.guesses else ""
    return Row(TableCell(f"{ranked.place}. {ranked.model}", hue=results.hue(ranked.model), note=doubt), tuple(cells))


def _ranked_cell(finding: AnyFinding | None, hue: str) -> TableCell:
    if finding is None or not is_known(finding.value):
        return TableCell(UNKNOWN)
    bar = Bar(finding.value, finding.low, finding.high, hue=hue) if finding.unit == "share" else None
    text = in_unit(finding.value, finding.unit)
    return TableCell(
        text, finding.value, interval(finding.low, finding.high, finding.unit), _taken_for(finding), bar=bar
    )


def _taken_for(finding: AnyFinding) -> Badge | None:
    """The class that the modification itself may be taken for, where that is marked."""
    trust = finding.interference
    if trust is None or trust.mark != "flagged":
        return None
    return Badge(f"▲ taken for {trust.taken_for}", True, trust.text)


def _card(verdict: ModelVerdict, pictured: Pictured) -> CardBlock:
    results = pictured.results
    strip = strip_of(verdict.model, pictured)
    full = verdict_definitions(verdict_of(results, verdict.model), results)
    more = Details(f"Everything found about {verdict.model}", (*_key_findings(verdict.findings), full))
    blocks: list[Block] = [prose(" ".join(verdict.sentences)), *([strip] if strip else []), more]
    return CardBlock(verdict.model, tuple(blocks), hue=results.hue(verdict.model), level=2)


def _key_findings(findings: Sequence[KeyFinding]) -> list[Block]:
    """The strongest findings of a model."""
    if not findings:
        return []
    rows = []
    for own in findings:
        trust = own.finding.interference
        mark = f"{own.sign} {own.taken_for}".strip()
        chosen = f"the strongest of {own.out_of}" if own.out_of > 1 else ""
        cells = (
            TableCell(own.value, own.finding.value, own.interval),
            TableCell(own.change),
            TableCell(mark, title=trust.text if trust else ""),
        )
        rows.append(Row(TableCell(own.label, note=chosen), cells))
    return [Table(heads("", "value", "against unmodified", "mark"), tuple(rows), dense=True)]


def _between(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    """Who leads on what, where there are several models."""
    if not results.several:
        return []
    sentences = between([row for own in rows.values() for row in own], at_chance(results))
    items = tuple((sentence,) for sentence in sentences)
    return [Details("Between the models: who is clearly better on what", (Bullets(items),))] if items else []


def _next(screen: FirstScreen) -> list[Block]:
    """Commands that tell more."""
    if not screen.next_steps:
        return []
    blocks: list[Block] = []
    for step in screen.next_steps:
        blocks += [prose(f"{step.reason[:1].upper()}{step.reason[1:]}:"), Command(step.command)]
    return [Details("What to look at next", tuple(blocks))]
