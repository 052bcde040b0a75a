"""The iOcclusion part of the report: a panel per way of covering, and what is said of one model stays with it."""

from __future__ import annotations

import copy
from math import nan
from typing import Any

import pytest

from snellen.audits.facts import facts_to_json
from snellen.audits.iocclusion import IOcclusionFacts
from snellen.exam.run import Run
from snellen.report import html_of, page_of
from snellen.report.blocks import Chart, Page
from snellen.report.findings_table import finding_rows, findings_table
from snellen.report.results import Results
from snellen.report.sections.iocclusion import highest_ratio, iocclusion_blocks, ratio_chart, ratios_of
from snellen.report.table import parted

from .reading import every, titles


def facts_of(masking: str, fill: str, area: float) -> IOcclusionFacts:
    """The facts of an iOcclusion of which only the way of covering matters."""
    numbers = dict.fromkeys(("std", "signed", "numerator", "denominator", "gap_low", "gap_high"))
    return IOcclusionFacts(masking=masking, fill=fill, area=area, gapless=0, **numbers)


def ratio(
    fooled: Run, model: str, distortion: str, value: float, high: float | None, facts: IOcclusionFacts
) -> dict[str, Any]:
    """An iOcclusion finding of the toy run's kind."""
    (like,) = [one for one in fooled.results()["findings"] if one["model"] == model and one["name"] == "noisy_accuracy"]
    return {
        **like, "audit": "occlusion", "name": "iocclusion", "value": value, "low": 0.0, "high": high, "unit": "index",
        "distortions": [distortion, distortion], "facts": facts_to_json(facts), "text": f"gap under {distortion} ({model} alone)",
    }  # fmt: skip


@pytest.fixture
def results(fooled: Run) -> Results:
    """The toy run with iOcclusion at two shares under two grids of tiles, in one fill, and in another fill for one."""
    held = copy.deepcopy(fooled.results())
    for model, high in (("naive", 0.9), ("wise", None)):
        for grid in (4, 8):
            for share, value in ((0.1, 0.8), (0.5, 0.3)):
                text = f"tiles(grid={grid}, share={share}, fill=black)"
                held["findings"].append(ratio(fooled, model, text, value, high, facts_of("tiles", "black", share)))
    text = "occlude(area=0.5, fill=noise, inside=true, law=exact)"
    held["findings"].append(ratio(fooled, "wise", text, 1.4, 30.0, facts_of("occlude", "noise", 0.5)))
    held["findings"].append(ratio(fooled, "naive", text, nan, None, facts_of("occlude", "noise", 0.5)))
    return Results(held, fooled.facts, fooled)


def test_every_way_of_covering_has_its_panel_and_begins_at_the_whole_gap(results: Results) -> None:
    panels = ratios_of(results)
    assert [panel.title for panel in panels] == ["black tiles", "black tiles", "noise squares"]
    for panel in panels[:2]:
        assert list(panel.lines) == ["naive", "wise"]
        for line in panel.lines.values():
            assert [(point.covered, point.value) for point in line] == [(0, 1), (0.1, 0.8), (0.5, 0.3)]
    assert list(panels[2].lines) == ["wise"]  # what is not known is not drawn


def test_the_axis_holds_every_value_and_cuts_endless_intervals(results: Results) -> None:
    panels = ratios_of(results)
    top = highest_ratio(panels)
    assert top == pytest.approx(1.05 * 2 * 1.4)
    drawn = [row for panel in panels for row in ratio_chart(panel, ["naive", "wise"], top)["data"]["values"]]
    assert max(row["high"] for row in drawn) == top
    assert {row["high"] for row in drawn if row["model"] == "naive"} == {1.0, 0.9}
    spec = ratio_chart(panels[0], ["naive", "wise"], top)
    assert spec["layer"][0]["data"]["values"] == [{"chance": 1.0}]
    assert spec["layer"][2]["encoding"]["y"]["scale"]["domain"] == [0, top]


def test_what_is_said_of_one_model_stands_in_its_own_column(results: Results) -> None:
    rows = [row for row in finding_rows(results)["occlusion"] if row.first.name == "iocclusion"]
    unmeasured, covered = rows[:2]  # the toy run itself has no training images
    assert "add --train" in unmeasured.detail
    assert list(unmeasured.notes.values()) == ["", ""]
    assert covered.detail == "gap under tiles(grid=4, share=0.1, fill=black)"
    assert list(covered.notes.values()) == ["(naive alone)", "(wise alone)"]


@pytest.mark.parametrize(
    ("texts", "head", "own"),
    [
        (["a, b: moves by 1 %", "a, b: moves by 12 %"], "a, b", ["moves by 1 %", "moves by 12 %"]),
        (["ratio (one run)", "ratio"], "ratio", ["(one run)", ""]),
        (["same (x: y)", "same (x: y)"], "same (x: y)", ["", ""]),
        (["one", "two"], "", ["one", "two"]),
        (["alone: 3 %"], "alone: 3 %", [""]),
    ],
)
def test_texts_are_parted_where_they_begin_to_differ(texts: list[str], head: str, own: list[str]) -> None:
    models = ["first", "second"]
    assert parted(dict(zip(models, texts))) == (head, dict(zip(models, own)))


def test_the_report_draws_it_only_where_it_was_asked(fooled: Run, results: Results) -> None:
    assert "iOcclusion" not in titles(page_of(fooled))
    blocks = iocclusion_blocks(results)
    assert [chart.title for chart in every(Chart, blocks)] == ["black tiles", "black tiles", "noise squares"]
    shown = html_of(Page("t", (*blocks, findings_table(results, finding_rows(results)))))
    assert "<h2>iOcclusion</h2>" in shown
    assert shown.count("black tiles</figcaption>") == 2
    assert "(wise alone)" in shown
