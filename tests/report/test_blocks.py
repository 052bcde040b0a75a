"""Blocks: JSON and back, every kind in every form, and nothing that a value can break."""

from __future__ import annotations

import json

import pytest

from snellen.report import html_of, json_of, markdown_of
from snellen.report.blocks import (
    BLOCKS,
    NAMES,
    Answer,
    Badge,
    Bar,
    Block,
    Bullets,
    CardBlock,
    Chapter,
    Chart,
    Command,
    Definitions,
    Details,
    Entry,
    FactLine,
    Gallery,
    Group,
    Heading,
    Page,
    Panels,
    Picture,
    Prose,
    Published,
    Row,
    Shot,
    Span,
    Strip,
    Table,
    TableCell,
    bold,
    code,
    note,
)

from .reading import Reader

HOSTILE = "<b>`|*_x"
PIXEL = "data:image/png;base64,iVBORw0KGgo="
SPEC = {
    "data": {"values": [{"kind": "table", "x": 1, "name": "seen"}]},  # a key that blocks use too
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative", "title": "axis of the chart"}},
}


def blocks_with(word: str) -> list[Block]:
    """One block of every kind; the word stands in each place that is shown."""
    cell = TableCell(word, 0.5, f"{word} to 1", Badge(word, True, word, word), word, True, word, "0")
    rows = (Group(word, "bar"), Row(TableCell(word, title=word), (cell, TableCell(word, tone="code"))))
    picture = Picture(PIXEL, word, (Answer(word, True, word, word, "1"), Answer(word, False), Answer(word)))
    bare = (Row(TableCell(word), (Picture(None, word),)),)
    inside = (note(word),)
    bar = Bar(0.5, 0.4, 0.6, 0.9, "1")
    return [
        Heading(word, 3, word),
        Prose((word, " ", bold(word), code(word), Span(word, "flag", word, "2"), Span(word, "soft")), "lead"),
        Prose((word,), "foot"),
        Bullets(((word,), (bold(word),))),
        FactLine(((Span(word, hue="3"),),)),
        Definitions((Entry(word, (word,), ((word,),)), Entry("", (word,)))),
        Command(word),
        Table((TableCell(""), TableCell(word, note=word), TableCell(word)), rows, dense=True),
        Table((), (Row(TableCell(word), (TableCell(word, shade=0.4, tone="warn"),), strong=True),)),
        Gallery((TableCell("is"), TableCell(word, note=word)), (Group(word), Row(TableCell(word), (picture,)), *bare), 2, 64),
        Chart(word, SPEC, ((word,),), "4", True, inside),
        Panels((Chart(word, {}), CardBlock(word, inside)), "small"),
        CardBlock(word, inside, "warning", "5", 2),
        Details(word, inside, True),
        Published(word, False, word, inside),
        Strip((Shot(picture, word, word, word, bar, (word,), True, word), Shot(bare[0].cells[0], word, word))),
        Table((), (Row(TableCell(word, more=word), (TableCell(word, 0.5, bar=Bar(0.5)),)),)),
        Chapter(word, (word, Span(word, link="place")), inside, "place"),
    ]  # fmt: skip


def test_every_kind_is_tried() -> None:
    assert {NAMES[type(block)] for block in blocks_with("x")} == set(BLOCKS)


@pytest.mark.parametrize("word", ["plain", HOSTILE])
def test_a_page_is_json_and_back(word: str) -> None:
    page = Page(word, tuple(blocks_with(word)))
    content = json.loads(json_of(page))
    assert content.keys() == {"title", "blocks"}
    assert Page.from_json(content) == page
    assert content["blocks"][0] == {"kind": "heading", "text": word, "level": 3, "code": word}
    assert "kind" in content["blocks"][10]["spec"]["data"]["values"][0]


@pytest.mark.parametrize("block", blocks_with("turnip"), ids=lambda block: NAMES[type(block)])
def test_every_kind_is_shown_in_html_and_markdown(block: Block) -> None:
    page = Page("title", (block,))
    assert "turnip" in Reader(html_of(page)).text
    assert "turnip" in markdown_of(page).partition("# title")[2]


def test_a_chart_is_drawn_and_its_blocks_stand_below() -> None:
    html = html_of(Page("t", (Chart("seen", SPEC, below=(note("under it"),)),)))
    assert html.index("seen") < html.index("<svg") < html.index("axis of the chart") < html.index("under it")


@pytest.mark.parametrize("block", blocks_with(HOSTILE), ids=lambda block: NAMES[type(block)])
def test_no_value_is_taken_for_a_tag_or_for_markdown(block: Block) -> None:
    page = Page(HOSTILE, (block,))
    html, markdown = html_of(page), markdown_of(page)
    assert "<b>`" not in html
    assert HOSTILE in Reader(html).text
    fenced = isinstance(block, Command)
    assert fenced or "<b>" not in markdown
    table = [line.replace("\\|", "") for line in markdown.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) <= 1


def test_rows_side_by_side_begin_anew_at_a_group() -> None:
    rows = (
        Group("a"),
        *(Row(TableCell(f"r{i}"), (Picture(None, ""),)) for i in range(3)),
        Group("b"),
        Row(TableCell("r3"), ()),
    )
    html = html_of(Page("t", (Gallery((TableCell("is"), TableCell("x")), rows, across=2),)))
    lines = [[f"r{i}" for i in range(4) if f">r{i}<" in line] for line in html.split("<tr")]
    assert [line for line in lines if line] == [["r0", "r1"], ["r2"], ["r3"]]


def test_folded_blocks_are_folded_and_open_ones_open() -> None:
    html = html_of(Page("t", (Details("a", ()), Details("b", (), True))))
    assert "<details><summary>a" in html
    assert "<details open><summary>b" in html


def test_a_cell_has_its_interval_badge_and_note() -> None:
    cell = TableCell(
        "92.7%", 0.927, "91–94", Badge("DI 0.5 cat ▲", True, "tooltip", "by chance up to 0.1"), "one run", True
    )
    page = Page("t", (Table((TableCell(""), TableCell("m", hue="1")), (Row(TableCell("Clean"), (cell,)),)),))
    assert "| Clean | **92.7%** (91–94) (one run) · DI 0.5 cat ▲ · by chance up to 0.1 |" in markdown_of(page)
    html = html_of(page)
    assert "Clean 92.7% [91–94] DI 0.5 cat ▲ · by chance up to 0.1 one run" in Reader(html).text
    assert 'title="tooltip"' in html
    assert '<i class="dot p1">' in html
