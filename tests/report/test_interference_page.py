"""The interference part of the report: the yardstick drawn, the dominant class named, sweeps as curves, two classes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from snellen.audits import BaselineAudit, InterferenceAudit, parse_audits
from snellen.audits.trust import TOO_FEW
from snellen.exam.run import Run
from snellen.report import brief_page_of, markdown_of, page_of
from snellen.report.blocks import Chart
from snellen.report.charts import svg
from snellen.report.results import Results
from snellen.report.sections.interference_charts import bar_chart, bar_ends, highest, index_chart, sweep_chart
from snellen.report.sections.interference_values import bars_of, indices_of, sweeps_of
from snellen.report.words import in_words

from .conftest import Answerer, Toy, falls_for, steady
from .reading import every, titles, under

NOISE = "noise(sigma=uniform(low=0, high=0.025))"
SWEEP = "interference(sweep=[shuffle(8), shuffle(2), shuffle(4)])"


def pulled(strengths: dict[str, float], to: int = 2) -> Answerer:
    """As `steady`, but a share of the images whose distortion holds the text is taken for one class."""

    def answer(distortion: str, labels: np.ndarray, classes: int) -> np.ndarray:
        share = next((share for text, share in strengths.items() if text in distortion), 0.0)
        return np.where(np.arange(len(labels)) < share * len(labels), to, steady(0.1)(distortion, labels, classes))

    return answer


@pytest.fixture(scope="module")
def swept(toy_run: Callable[[Toy], Run]) -> Run:
    """Two models under three grids; the first follows the grid, and names another class under mild noise."""
    wild = pulled({"grid=2": 0.1, "grid=4": 0.4, "grid=8": 0.8, "noise(": 0.05})
    return toy_run(
        Toy({"wild": [wild, wild], "calm": [steady(0.1)] * 2}, audits=(BaselineAudit(), *parse_audits(SWEEP)))
    )


def found(run: Run, model: str, distortion: str):
    (one,) = [
        one for one in run.results()["findings"]
        if one["name"] == "interference" and one["model"] == model and one["distortions"] == [distortion]
    ]  # fmt: skip
    return one


def test_mild_noise_is_a_rule_in_the_chart_of_every_model_and_no_bar(swept: Run):
    models = indices_of(Results.of(swept))
    charts = {one.title: one.spec for one in every(Chart, under(page_of(swept), "Where the errors go"))[:2]}
    assert [model.model for model in models] == list(charts) == ["wild", "calm"]
    for model in models:
        chart = index_chart(model, highest(models))
        assert chart == charts[model.model]
        rules = [layer["data"]["values"] for layer in chart["layer"] if "data" in layer]
        assert rules == [[{"noise": found(swept, model.model, NOISE)["value"]}]]
        assert NOISE not in {row["distortion"] for row in chart["data"]["values"]}
        assert len(chart["data"]["values"]) == 5  # three by default, and two grids that are not among them


def test_bars_are_the_findings_and_name_the_dominant_class(swept: Run):
    wild, _ = indices_of(Results.of(swept))
    rows = index_chart(wild, 4)["data"]["values"]
    for row in rows:
        assert row["value"] == found(swept, "wild", row["distortion"])["value"]
    assert {row["said"] for row in rows if "shuffle" in row["distortion"]} == {"eel"}
    drawn = svg(index_chart(wild, 4))
    assert drawn.count(">eel<") == 3
    assert re.search("stroke-dasharray", drawn)


def test_the_rule_of_the_class_bars_is_the_largest_rise_under_mild_noise(swept: Run):
    rise = np.mean(found(swept, "wild", NOISE)["facts"]["increase"], axis=0).max()
    assert rise > 0
    for group in bars_of(Results.of(swept)):
        wild, calm = group.charts
        assert wild.noise == pytest.approx(rise)
        assert calm.noise == 0
        ends = bar_ends([wild])
        assert ends[1] >= 100 * rise
        layers = [layer for layer in bar_chart(wild, ends)["layer"] if "data" in layer]
        assert layers[0]["data"]["values"] == [{"noise": pytest.approx(100 * rise)}]


def test_settings_of_one_distortion_are_one_curve_in_order(swept: Run):
    (sweep,) = sweeps_of(Results.of(swept))
    assert (sweep.family, sweep.setting, sweep.fixed) == ("shuffle", "grid", "")
    wild, calm = sweep.lines
    assert [at for at, _ in wild.points] == [2, 4, 8]
    values = [finding.value for _, finding in wild.points]
    assert values == [found(swept, "wild", f"shuffle(grid={grid})")["value"] for grid in (2, 4, 8)]
    assert values == sorted(values)
    assert wild.noise == found(swept, "wild", NOISE)["value"] > calm.noise == 0
    chart = sweep_chart(sweep, ["wild", "calm"])
    assert [row["said"] for row in chart["data"]["values"]] == ["", "", "eel", "", "", ""]
    assert chart["layer"][0]["data"]["values"][0] == {"model": "wild", "noise": wild.noise}
    assert "<svg" in svg(chart)
    assert "DI along grid of shuffle" in titles(page_of(swept))
    assert "DI along grid of shuffle" in (swept.path / "report.html").read_text()


def listed(run: Run, *distortions: str) -> Results:
    """The run with the same DI under these distortions, and no other finding."""
    like = next(one for one in run.results()["findings"] if one["name"] == "interference")
    findings = [{**like, "distortions": [text]} for text in distortions]
    return Results({**run.results(), "findings": findings}, run.facts, run)


def test_only_what_differs_in_one_number_is_a_sweep(calm: Run):
    squares = [f"occlude(area={area}, fill={fill})" for fill in ("black", "grey") for area in (0.1, 0.3)]
    told = [(sweep.setting, sweep.fixed) for sweep in sweeps_of(listed(calm, *squares))]
    assert told == [("area", "fill=black"), ("area", "fill=grey")]
    tiles = ("tiles(grid=2, share=0.1)", "tiles(grid=4, share=0.3)")
    assert sweeps_of(listed(calm, "shuffle(grid=2)", *tiles, NOISE)) == []
    laws = ["fourier(area=uniform(low=0, high=1), fill=black)", "fourier(area=0.5, fill=black)"]
    assert sweeps_of(listed(calm, *laws, "not a text (", "shuffle(grid=2) | noise(0.1)")) == []


def test_distortions_of_the_same_words_have_bars_of_their_own(toy_run: Callable[[Toy], Run]):
    audits = (BaselineAudit(), *parse_audits("interference([occlude(0.3), occlude(0.3, law=published)])"))
    (model,) = indices_of(Results.of(toy_run(Toy({"m": [steady(0.1)]}, audits=audits))))
    assert len({in_words(finding.distortions[0]) for finding in model.findings}) == 1
    assert len({row["words"] for row in index_chart(model, 1)["data"]["values"]}) == 2


def test_two_classes_are_said_to_show_no_dominant_one(toy_run: Callable[[Toy], Run]):
    # All images are taken for dog under shuffling: a rise as large as there can be, and still no flag and no name.
    fooled = [falls_for(1, "shuffle")] * 3
    run = toy_run(Toy({"m": fooled}, classes=("cat", "dog"), audits=(BaselineAudit(), InterferenceAudit())))
    one = found(run, "m", "shuffle(grid=4)")
    assert one["value"] > 0.9
    assert TOO_FEW in one["text"]
    assert TOO_FEW in one["interference"]["text"]
    assert one["facts"]["dominant"] == "none"
    assert one["facts"]["p_uniform"] is None
    assert (one["interference"]["flagged"], one["interference"]["dominant"]) == (False, "")
    html = (run.path / "report.html").read_text()
    assert "two classes: no dominant class can be shown" in html
    assert "dominant class dog" not in html
    assert "With two classes no dominant class can be shown" in markdown_of(brief_page_of(run))
    three = toy_run(Toy({"m": fooled}, classes=("cat", "dog", "eel"), audits=(BaselineAudit(), InterferenceAudit())))
    assert "two classes: no" not in (three.path / "report.html").read_text()
    assert found(three, "m", "shuffle(grid=4)")["facts"]["dominant"] == "dog"


def test_the_table_of_chance_shows_the_findings_numbers(swept: Run):
    facts = found(swept, "wild", "shuffle(grid=8)")["facts"]
    html = " ".join((swept.path / "report.html").read_text().split())
    for kind in ("uniform", "one"):
        whole, alone = facts["nulls"][kind], facts["nulls"][f"{kind}_without_clean_errors"]
        assert f"p {whole['p']:.3f}" in html
        told = (
            f"{whole['mean']:.2f} ± {whole['std']:.2f}; without clean errors {alone['mean']:.2f} ± {alone['std']:.2f}"
        )
        assert told in html
