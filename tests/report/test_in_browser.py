"""The report in a browser: from a file, without a network, at two widths, for runs of every audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snellen.audits import BaselineAudit, OcclusionAudit
from snellen.exam.run import Run
from snellen.report import html_of, page_of
from snellen.report.blocks import Chapter

from .conftest import ANIMALS, Toy, falls_for, steady
from .reading import every
from .test_words_are_not_data import RUNS

pytestmark = pytest.mark.slow

CHROMIUM = Path("/usr/bin/chromium")
WIDTHS = {"desktop": 1280, "phone": 360}
PAPER = 700  # pixels between the margins of A4
OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """[...document.querySelectorAll('table, svg, img, ol.strip, pre, code.command')].filter(each => {
    let box = each, wide = each.getBoundingClientRect();
    while (box && !['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) box = box.parentElement;
    return wide.width && !box && wide.right > document.documentElement.clientWidth + 1;
}).map(each => each.outerHTML.slice(0, 80))"""  # what ends outside the page and stands in no box that scrolls


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium in /usr/bin/chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Path, int], Any]]:
    """Opens a file at a width, without a network; anything that the console says fails the test."""
    said: list[str] = []
    contexts = []

    def at_width(path: Path, width: int) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(0)  # however busy the machine is
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(path.as_uri())
        return page

    yield at_width
    for context in contexts:
        context.close()
    assert said == []


def report_of(run: Run, folder: Path) -> tuple[Path, list[str]]:
    """The report of a run as a file, and the addresses of its chapters."""
    page = page_of(run)
    path = folder / "page.html"
    path.write_text(html_of(page))
    return path, [chapter.anchor for chapter in every(Chapter, page)]


@pytest.mark.parametrize("make", RUNS, ids=lambda make: make.__name__)
def test_nothing_is_cut_off_at_any_width(make: Callable[[Path], Run], tmp_path: Path, opened: Any) -> None:
    path, anchors = report_of(make(tmp_path), tmp_path)
    for width in WIDTHS.values():
        page = opened(path, width)
        assert page.evaluate(WIDER) <= 0
        assert page.locator("details.chapter[open]").count() == 0  # closed until asked for
        page.evaluate(OPEN_ALL)
        assert page.evaluate(WIDER) <= 0
        assert page.evaluate(CUT) == []
        assert page.locator("details.chapter").count() == len(anchors)
    page = opened(path, PAPER)
    page.emulate_media(media="print")
    assert page.evaluate(WIDER) <= 0
    assert page.evaluate(CUT) == []


@pytest.fixture(scope="module")
def crowd(toy_run: Callable[[Toy], Run]) -> Run:
    """Ten models, one of which takes black squares for a class, and long names."""
    models = {f"model {number} with a rather long name": [steady(number / 40)] for number in range(9)}
    audits = (BaselineAudit(), OcclusionAudit(areas=(0.3, 0.5)))
    classes = (*ANIMALS, "a class" * 12)
    return toy_run(Toy({"naive": [falls_for(2, "fill=black", 0.1)], **models}, classes=classes, audits=audits))


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_first_screen_of_ten_models_fits(crowd: Run, width: int, tmp_path: Path, opened: Any) -> None:
    path, _ = report_of(crowd, tmp_path)
    page = opened(path, width)
    assert page.evaluate(WIDER) <= 0
    assert page.locator("ol.strip").first.is_visible()
    top = page.locator("ol.strip").first.bounding_box()
    table = page.locator("table").first.bounding_box()
    assert table["y"] < top["y"]  # the ranked list first
    page.evaluate(OPEN_ALL)
    assert page.evaluate(WIDER) <= 0
    assert page.evaluate(CUT) == []


def test_an_address_opens_its_chapter(fooled: Run, tmp_path: Path, opened: Any) -> None:
    path, anchors = report_of(fooled, tmp_path)
    assert len(set(anchors)) == len(anchors)
    page = opened(path, 1280)
    for anchor in ("occlusion", "findings"):
        page.evaluate(f"location.hash = '{anchor}'")
        page.wait_for_function(f"document.getElementById('{anchor}').closest('details').open")
    assert page.locator("details.chapter[open]").count() == 2


def test_a_printed_report_shows_every_chapter(fooled: Run, tmp_path: Path, opened: Any) -> None:
    path, anchors = report_of(fooled, tmp_path)
    page = opened(path, 1280)
    visible = "[...document.querySelectorAll('.chapter > .inside')].filter(each => each.checkVisibility()).length"
    assert page.evaluate(visible) == 0
    page.emulate_media(media="print")
    assert page.evaluate(visible) == len(anchors)
    assert page.evaluate("document.querySelectorAll('.chapter > .inside').length") == len(anchors)


def test_both_colour_schemes_have_readable_text(fooled: Run, tmp_path: Path, opened: Any) -> None:
    path, _ = report_of(fooled, tmp_path)
    page = opened(path, 1280)
    colours = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colours["light"] != colours["dark"]
