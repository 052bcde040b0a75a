"""The background part of the report: every number a finding's, the published ones marked as such, all charts drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.exam.run import Run
from snellen.report import html_of, markdown_of, page_of
from snellen.report.background import background_page
from snellen.report.background_charts import (
    categories_chart,
    progress_chart,
    published_chart,
    size_chart,
    variants_chart,
)
from snellen.report.charts import svg

MODELS = {f"m{share}": f"observer:mixture(background, texture, {share / 10})" for share in (0, 5, 10)}
NINE = ["bird", "carnivore", "dog", "fish", "insect", "instrument", "primate", "reptile", "vehicle"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "run"
    data = "phantom:test?size=32&n=120&background_bias=0.9&texture_bias=0.9"
    return snellen.audit(MODELS, data, "background", out, quiet=True, report=True)


@pytest.fixture(scope="module")
def page(run: Run) -> dict[str, Any]:
    return page_of(run)


def found(run: Run, model: str, name: str) -> dict[str, Any]:
    (one,) = [one for one in run.results()["findings"] if one["model"] == model and one["name"] == name]
    return one


def test_bars_categories_and_gaps_are_the_findings(run: Run, page: dict[str, Any]) -> None:
    for model in page["background"]["models"]:
        for variant in model["variants"]:
            assert variant["value"] == found(run, model["model"], f"{variant['kind']}_accuracy")["value"]
        counts = found(run, model["model"], "needs_background")["facts"]["counts"]
        assert {one["name"]: one["count"] for one in model["categories"]} == counts
        assert sum(one["share"] for one in model["categories"]) == pytest.approx(1)
    bars = variants_chart(page["background"])["data"]["values"]
    assert [row["value"] for row in bars if row["words"] == "clean"] == [
        found(run, model, "accuracy")["value"] for model in MODELS
    ]


def test_a_model_stands_among_the_published_ones_by_its_gap(run: Run, page: dict[str, Any]) -> None:
    rows = page["background"]["published"]["rows"]
    assert [row["bg_gap"] for row in rows] == sorted(row["bg_gap"] for row in rows)
    own = {row["name"]: row for row in rows if row["own"]}
    assert own["m5"]["bg_gap"] == pytest.approx(100 * found(run, "m5", "bg_gap")["value"])
    (resnet,) = [row for row in rows if row["name"] == "ResNet-50 trained on ImageNet" and row["source"] == "table 2"]
    assert (resnet["mixed_same"], resnet["mixed_rand"], resnet["bg_gap"]) == (91.0, 84.3, 6.7)
    told = {row["name"]: row["bg_gap"] for row in rows if row["source"] == "table 5"}
    assert told == pytest.approx({"ResNet-50 trained on original": 20.22, "ResNet-50 trained on mixed_rand": -0.20})
    assert all(row["own"] or "weights" in row["note"] or "trained" in row["note"] for row in rows)
    assert len([row for row in rows if not row["own"]]) == 10 + 2 + 3


def test_backgrounds_alone_are_set_against_guessing_and_the_published_leakage(run: Run, page: dict[str, Any]) -> None:
    """Table 5: 23.58 and 22.59 % of a network that saw no background, 15.33 and 14.62 % of one that saw any, chance 1 in 9."""
    rows = {row["name"]: row for row in page["background"]["hole"]}
    for model in MODELS:
        for kind in ("only_bg_b", "only_bg_t"):
            one = found(run, model, f"{kind}_accuracy")
            held = rows[model]["cells"][kind]
            assert held["value"] == pytest.approx(one["value"] - 1 / 12)
            assert (held["low"], held["high"]) == pytest.approx((one["low"] - 1 / 12, one["high"] - 1 / 12))
    told = {
        name: [round(100 * row["cells"][kind]["value"], 2) for kind in ("only_bg_b", "only_bg_t")]
        for name, row in rows.items()
        if not row["own"]
    }
    assert told == {
        "ResNet-50 trained on only_fg": [12.47, 11.48],
        "ResNet-50 trained on mixed_rand": [4.22, 3.51],
    }
    assert "+12.5 points" in html_of(page)


def test_other_data_than_the_nine_classes_are_said_not_to_be_comparable(run: Run, page: dict[str, Any]) -> None:
    assert not page["background"]["published"]["comparable"]
    assert "Not the same data" in html_of(page)
    results = run.results()
    results["data"]["test"]["classes"] = NINE
    held = background_page(results)
    assert held is not None
    assert held["published"]["comparable"]


def test_the_verdict_says_the_gap_in_words(run: Run, page: dict[str, Any]) -> None:
    said = {one["model"]: one["background"] for one in page["verdict"]["models"]}
    gap = found(run, "m10", "bg_gap")
    assert f"a BG-Gap of {100 * gap['value']:.1f} points" in said["m10"]
    assert "BG-Gap" in markdown_of(page)


def test_every_chart_is_drawn(page: dict[str, Any]) -> None:
    held = page["background"]
    for chart in (
        variants_chart(held),
        size_chart(held),
        published_chart(held),
        progress_chart(held["progress"], "gap"),
    ):
        assert svg(chart).startswith("<svg")
    rows = held["models"][0]["by_class"]
    drawn = svg(categories_chart(rows, "class"))
    assert all(name in drawn for name in {row["class"] for row in rows})
    lines = progress_chart(held["progress"], "accuracy")
    assert len({row["words"] for row in lines["layer"][0]["data"]["values"]}) == 7


def test_each_category_shows_its_examples_with_the_answers_given(run: Run, page: dict[str, Any]) -> None:
    for model, categories in page["background"]["gallery"].items():
        examples = found(run, model, "needs_background")["facts"]["examples"]
        for one in categories:
            assert len(one["rows"]) == len(examples[one["category"]])
            for row in one["rows"]:
                full, rand, alone = row["cells"]
                assert all(cell["picture"].startswith("data:image/png") for cell in row["cells"])
                right = (full["right"], rand["right"], alone["right"])
                expected = {"BG Required": (True, False, True), "BG Fools": (False, True, False)}
                assert right == expected.get(one["category"], right)
                assert full["right"] == (full["answer"] == row["class"])


def test_the_report_is_written_again_without_the_data(run: Run, tmp_path: Path) -> None:
    text = snellen.load_run(run.path).report(tmp_path / "again.html").read_text()
    assert text.count("<svg") >= 8
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_of_very_many_classes_those_that_need_it_most_have_a_bar(run: Run) -> None:
    results = run.results()
    for one in results["findings"]:
        if one["name"] == "needs_background":
            empty = dict.fromkeys(one["facts"]["counts"], 0)
            one["facts"]["by_class"] = {
                f"c{i}": {**empty, "BG Irrelevant": 100 - i, "BG Required": i} for i in range(100)
            }
    held = background_page(results)
    assert held is not None
    names = list(dict.fromkeys(row["class"] for row in held["models"][0]["by_class"]))
    assert names == [f"c{i}" for i in range(99, 84, -1)]
    assert held["models"][0]["classes"] == 100


def test_the_findings_keep_their_schema(run: Run) -> None:
    import json

    import jsonschema

    from snellen.report.findings import SCHEMA

    jsonschema.validate(run.results(), json.loads(SCHEMA.read_text()))


def test_runs_without_the_audit_have_no_such_part(tmp_path: Path) -> None:
    held = {"findings": [], "models": {"m": ["m"]}, "data": {"test": {"classes": ["a"]}}}
    assert background_page(held) is None
