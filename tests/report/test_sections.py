"""Sections: an audit with one shows it on the page, one without has its rows in the table and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from snellen.audits import Audit, BaselineAudit
from snellen.audits.finding import accuracy_finding
from snellen.distort import Shuffle
from snellen.exam.run import Run
from snellen.report import brief_page_of, html_of, markdown_of, page_of
from snellen.report.blocks import Block, CardBlock, Gallery, Heading, Picture, Row, Table, TableCell, heads, lead
from snellen.report.results import Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.section import Section

from .conftest import Toy, steady
from .reading import Reader, every, titles, under


@dataclass(frozen=True)
class Blink(Audit):
    """Accuracy with the patches shuffled, under a name that no report knows."""

    def cells(self, exam):
        return [exam.cell(Shuffle(2))]

    def conclude(self, exam, answers):
        (cell,) = self.cells(exam)
        return [
            accuracy_finding("blink", "blinked_accuracy", answers.model, answers[cell], cell, "right while blinking")
        ]


def blink_blocks(results: Results) -> list[Block]:
    own = results.of_audit("blink")
    rows = [
        Row(TableCell(blink.model, hue=results.hue(blink.model)), (TableCell("all", blink.value),)) for blink in own
    ]
    picture = Picture(results.thumbnail("shown02", 21), "an eye")
    gallery = Gallery(heads("is", "seen"), (Row(TableCell("eye"), (picture,)),))
    return [Heading("While blinking"), lead("Nothing is seen."), Table(heads("", "seen"), tuple(rows)), gallery]


def blink_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    return [("While blinking", f"{model} sees nothing."), ("Unmodified images", "It does not blink there.")]


BLINK = Section(
    blocks=blink_blocks,
    verdict=blink_sentence,
    columns={"blinked": lambda finding: finding.name == "blinked_accuracy"},
    meanings={"Blinking": "Closing both eyes."},
)


@pytest.fixture(scope="module")
def run(toy_run: Callable[[Toy], Run]) -> Run:
    return toy_run(Toy({"one": [steady(0.1)], "<b>two": [steady(0.2)]}, audits=(BaselineAudit(), Blink())))


def test_an_audit_without_a_section_has_its_rows_and_nothing_else(run: Run) -> None:
    page = page_of(run)
    (table,) = every(Table, under(page, "All findings"))
    assert [one.text for one in table.rows if not isinstance(one, Row)][-1] == "blink"
    assert "linked accuracy" in table.rows[-1].head.text
    assert "While blinking" not in titles(page)
    assert "blinking" not in markdown_of(brief_page_of(run))


def test_an_audit_with_a_section_shows_it_in_html_and_markdown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SECTIONS, "blink", BLINK)
    page = page_of(run)
    html, markdown = html_of(page), markdown_of(page)
    assert "<h2>While blinking</h2>" in html
    assert "Nothing is seen." in Reader(html).text
    assert 'alt="an eye"' in html
    assert "data:image/png" in html.partition('alt="an eye"')[0].rpartition("<td>")[2]
    assert "## While blinking\n\n*" in markdown
    assert "Nothing is seen.\n\n|  | seen |\n| --- | --- |\n| one | all |" in markdown
    assert "| &lt;b&gt;two | all |" in markdown
    assert "<b>two" not in html


def test_its_sentences_stand_with_those_of_other_audits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SECTIONS, "blink", BLINK)
    brief = markdown_of(brief_page_of(run))
    assert "- **While blinking**: one sees nothing." in brief
    assert "no spread over runs). It does not blink there." in brief
    cards = {card.title: card for card in every(CardBlock, page_of(run))}
    assert {"one", "<b>two"} <= cards.keys()


def test_it_may_give_a_column_and_the_meaning_of_its_terms(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert under(page_of(run), "The models side by side") == []  # clean accuracy alone
    monkeypatch.setitem(SECTIONS, "blink", BLINK)
    (table,) = every(Table, under(page_of(run), "The models side by side"))
    assert len(table.head) == 3
    assert "Blinking Closing both eyes." in Reader(html_of(page_of(run))).text


def test_numbers_that_a_section_shows_itself_may_be_left_out_of_the_table(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SECTIONS, "blink", Section(elsewhere=frozenset({"blinked_accuracy"})))
    assert "blinking" not in Reader(html_of(page_of(run))).text
    assert "linked accuracy" not in Reader(html_of(page_of(run))).text


def test_terms_of_audits_that_were_not_asked_for_are_not_explained(run: Run, calm: Run) -> None:
    assert "CutOcclusion" not in Reader(html_of(page_of(run))).text
    assert "CutOcclusion Mean accuracy while one square" in Reader(html_of(page_of(calm))).text


def test_of_very_many_classes_the_charts_of_adversarial_backgrounds_show_the_highest() -> None:
    from snellen.report.sections.adversarial_backgrounds import _highest

    bars = [{"model": model, "class": f"c{n}", "share": n / 1000} for n in range(1000) for model in ("a", "b")]
    few, caption = _highest(bars)
    assert {bar["class"] for bar in few} == {f"c{n}" for n in range(985, 1000)}
    assert len(few) == 30
    assert caption == (("the 15 highest of 1,000 classes",),)
    assert _highest(bars[:40]) == (bars[:40], ())
