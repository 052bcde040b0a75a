"""A run in a notebook: the same first screen as in the terminal, inside a page of someone else's, and its charts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import snellen
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.report.first_screen import first_screen
from snellen.report.render.notebook import screen_html
from snellen.report.results import Results

from .conftest import Toy, falls_for, steady
from .reading import Reader

MakeRun = Callable[[Toy], Run]


def test_it_says_what_the_first_screen_says(toy_run: MakeRun) -> None:
    run = toy_run(Toy({"mine": [falls_for(2, "black")]}))
    read = Reader(run._repr_html_() or "")
    (verdict,) = first_screen(Results.of(run)).verdicts
    for sentence in verdict.sentences:
        assert sentence in read.text
    for key in verdict.findings:
        assert " ".join(filter(None, (key.label, key.value, key.interval, key.change))) in read.text
    assert "DI: Data interference" in read.text


def test_it_needs_nothing_else_and_escapes_names(toy_run: MakeRun) -> None:
    run = toy_run(Toy({"<script>alert(1)</script>": [steady(0.1)], "b\x1b[31m": [steady(0.5)]}))
    html = run._repr_html_() or ""
    read = Reader(html)
    assert not read.addresses
    assert not read.tags & {"script", "link", "iframe", "img", "html", "body"}
    assert "\x1b" not in html
    assert all(line.lstrip().startswith(".snellen-screen") for line in html.splitlines() if line.rstrip().endswith("}"))


def test_models_are_ranked_with_their_intervals(toy_run: MakeRun) -> None:
    run = toy_run(Toy({"good": [steady(0.05)], "bad": [steady(0.5)]}))
    screen = first_screen(Results.of(run))
    read = Reader(screen_html(screen))
    assert screen.ranking is not None
    assert "1 good 95.0%" in read.text
    assert screen.ranking.rule in read.text


def test_the_charts_of_an_audit_are_those_of_its_section(toy_run: MakeRun, tmp_path: Path) -> None:
    run = toy_run(Toy({"mine": [falls_for(2, "black")]}))
    plot = run.plot("occlusion")
    assert plot.titles == ("black squares", "noise squares")
    assert all(drawn.startswith("<svg") for drawn in plot.svgs)
    assert plot._repr_html_().count("<svg") == 2
    assert [path.name for path in plot.save(tmp_path / "curves.svg")] == ["curves.svg", "curves-2.svg"]
    assert (tmp_path / "curves-2.svg").read_text() == plot.svgs[1]
    with pytest.raises(UserError, match="expected a name that ends in .svg, got"):
        plot.save(tmp_path / "curves.png")


def test_a_chart_by_itself_names_its_models_and_has_its_colours(toy_run: MakeRun, tmp_path: Path) -> None:
    models = {"naive": [falls_for(2, "fill=black")], "wise": [steady(0.1)]}
    plot = toy_run(Toy(models)).plot("occlusion")
    for drawn in plot.svgs:
        assert drawn.count(">naive<") == drawn.count(">wise<") == 1  # no page around it has a legend
        assert "var(" not in drawn
    (path, *_) = plot.save(tmp_path / "o.svg")
    assert path.read_text() == plot.svgs[0]


def test_an_unknown_plot_gets_the_nearest_and_one_that_is_not_there_what_is(toy_run: MakeRun) -> None:
    run = toy_run(Toy({"mine": [falls_for(2, "black")]}))
    with pytest.raises(UserError, match="unknown plot 'oclusion'; did you mean 'occlusion'?"):
        run.plot("oclusion")
    with pytest.raises(
        UserError, match="the run has no chart of 'calibration': it has baseline, occlusion, interference"
    ):
        run.plot("calibration")


def test_a_chart_with_nothing_to_draw_is_no_plot(tmp_path: Path) -> None:
    """A distortion without new errors has no bars in the report, only a sentence."""
    run = snellen.audit(
        "observer:texture",
        "phantom:test?size=32&n=24&texture_bias=1",
        "interference([shuffle(2)])",
        out=tmp_path / "run",
        quiet=True,
    )
    plot = run.plot("interference")
    assert "2×2 patches shuffled" not in plot.titles
    assert all(picture.startswith("<svg") for picture in plot.svgs)
