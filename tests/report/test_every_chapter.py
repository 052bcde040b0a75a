"""The chapters of runs of every audit: what each has to hold, and that the numbers of its page are those of findings.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snellen.audits import AUDITS
from snellen.exam.run import Run
from snellen.report import html_of, page_of
from snellen.report.blocks import Chapter, Chart, Details
from snellen.report.charts import BREAK, colour, svg
from snellen.report.glossary import about_di
from snellen.report.sections import SECTIONS
from snellen.report.words import in_unit, interval

from .reading import Reader, every
from .test_words_are_not_data import RUNS

pytestmark = pytest.mark.slow

UNITS = ("share", "difference", "index", "count")
AMOUNT = re.compile(r'<span class="value[^"]*">([^<]+)</span>\s*<span class="range">\[([^<]+)\]</span>')
BAR = re.compile(r"--value: ([\d.e-]+); --low: ([\d.e-]+); --high: ([\d.e-]+)")


@pytest.fixture(scope="module", params=RUNS, ids=lambda make: make.__name__)
def run(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    make: Callable[[Path], Run] = request.param
    return make(tmp_path_factory.mktemp("run"))


def estimates(value: Any) -> Iterator[tuple[float | None, float | None, float | None]]:
    """Every value with its interval in findings.json: of findings, and of what their facts hold, such as accuracies by size."""
    if isinstance(value, dict):
        if {"value", "low", "high"} <= value.keys():
            yield value["value"], value["low"], value["high"]
        for inside in value.values():
            yield from estimates(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from estimates(inside)


def test_every_number_with_an_interval_in_the_html_is_in_findings_json(run: Run) -> None:
    stored = list(estimates(json.loads((run.path / "findings.json").read_text())["findings"]))
    written = {(in_unit(value, unit), interval(low, high, unit)) for value, low, high in stored for unit in UNITS}
    html = html_of(page_of(run))
    shown = AMOUNT.findall(html)
    assert len(shown) > 5
    assert set(shown) <= written
    bars = {tuple(map(float, numbers)) for numbers in BAR.findall(html)}
    assert bars
    known = {(value, value if low is None else low, value if high is None else high) for value, low, high in stored}
    assert bars <= known


def test_every_audit_has_a_figure_its_definitions_its_command_and_a_headline(run: Run) -> None:
    page = page_of(run)
    chapters = {chapter.anchor: chapter for chapter in every(Chapter, page)}
    asked = {finding.audit for finding in run.stored_findings()} & AUDITS.keys()
    assert asked
    for audit in asked:
        own = [chapter for anchor, chapter in chapters.items() if anchor.startswith(audit.replace("_", "-"))]
        assert own, audit
        for chapter in own:
            folded = [details.summary for details in every(Details, chapter)]
            assert [chart for chart in every(Chart, chapter) if chart.spec], audit
            assert {"How each number is defined", "The exact command"} <= set(folded), audit
            assert chapter.headline, audit


def test_a_chapter_that_speaks_of_di_says_what_it_is(run: Run) -> None:
    for chapter in every(Chapter, page_of(run)):
        text = Reader(html_of_chapter(chapter)).text
        if re.search(r"\bDI\b", text) and chapter.anchor not in ("numbers", "examples"):
            assert about_di() in text or f"DI {about_di().removeprefix('DI is ').capitalize()}" in text, chapter.title


def html_of_chapter(chapter: Chapter) -> str:
    from snellen.report.blocks import Page

    return html_of(Page("one", (chapter,)))


def test_no_chart_writes_out_a_line_break(run: Run) -> None:
    drawn = [svg(chart.spec) for chart in every(Chart, page_of(run)) if chart.spec]
    assert drawn
    texts = re.findall(r"<t(?:ext|span)[^>]*>([^<]*)<", "".join(drawn))
    assert not [text for text in texts if "\\n" in text or BREAK in text]


def test_a_model_keeps_its_colour_in_every_chart(run: Run) -> None:
    own = {model: colour(place) for place, model in enumerate(run.results()["models"])}
    scales = [scale for chart in every(Chart, page_of(run)) for scale in scales_of(chart.spec)]
    assert scales or len(own) == 1
    for domain, shown in scales:
        looks = dict(zip(domain, shown))
        looks.pop("people", None)  # who stand beside models
        assert looks == {model: own[model] for model in looks}


def scales_of(value: Any) -> Iterator[tuple[list[str], list[str]]]:
    """The models of each scale of colours in a specification, and their colours."""
    if isinstance(value, dict):
        scale = value.get("scale")
        if value.get("field") == "model" and isinstance(scale, dict) and "var(--c" in str(scale.get("range")):
            yield scale["domain"], scale["range"]
        for inside in value.values():
            yield from scales_of(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from scales_of(inside)


def test_every_audit_has_a_section_that_defines_its_numbers() -> None:
    assert AUDITS.keys() <= SECTIONS.keys()
    assert all(SECTIONS[audit].meanings for audit in AUDITS)
