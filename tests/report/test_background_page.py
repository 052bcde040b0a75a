"""The background part of the report: every number a finding's, the published ones marked as such, all charts drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.exam.run import Run
from snellen.report import brief_page_of, html_of, markdown_of, page_of
from snellen.report.blocks import Chart, Gallery, Group, Page, Published
from snellen.report.charts import svg
from snellen.report.results import Results
from snellen.report.sections.background import background_blocks, background_sentences
from snellen.report.sections.background_charts import (
    progress_chart,
    size_chart,
    variants_chart,
)
from snellen.report.sections.background_published import hole_rows, of_nine_classes, published_chart, published_rows
from snellen.report.sections.background_values import RunBackgrounds, background_values

from .reading import every, titles, under

MODELS = {f"m{share}": f"observer:mixture(background, texture, {share / 10})" for share in (0, 5, 10)}
NINE = ["bird", "carnivore", "dog", "fish", "insect", "instrument", "primate", "reptile", "vehicle"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "run"
    data = "phantom:test?size=32&n=120&background_bias=0.9&texture_bias=0.9"
    return snellen.audit(MODELS, data, "background", out, quiet=True, report=True)


@pytest.fixture(scope="module")
def page(run: Run) -> Page:
    return page_of(run)


@pytest.fixture(scope="module")
def values(run: Run) -> RunBackgrounds:
    values = background_values(Results.of(run))
    assert values is not None
    return values


def found(run: Run, model: str, name: str) -> dict[str, Any]:
    (one,) = [one for one in run.results()["findings"] if one["model"] == model and one["name"] == name]
    return one


def test_bars_categories_and_gaps_are_the_findings(run: Run, values: RunBackgrounds) -> None:
    for model in values.models:
        for variant in model.variants:
            assert variant.value == found(run, model.model, f"{variant.facts.kind}_accuracy")["value"]
        counts = found(run, model.model, "needs_background")["facts"]["counts"]
        assert model.categories.counts == counts
        assert sum(map(model.categories.share, counts)) == pytest.approx(1)
    bars = variants_chart(values.models, values.guess.level)["data"]["values"]
    assert [row["value"] for row in bars if row["words"] == "clean"] == [
        found(run, model, "accuracy")["value"] for model in MODELS
    ]
    ends = [(row["low"], row["high"]) for row in bars if row["words"] == "clean"]
    assert ends == [tuple(found(run, model, "accuracy")[end] for end in ("low", "high")) for model in MODELS]


def test_a_model_stands_among_the_published_ones_by_its_gap(run: Run, values: RunBackgrounds) -> None:
    rows = published_rows(values.models)
    assert [row.bg_gap for row in rows] == sorted(row.bg_gap for row in rows)
    own = {row.name: row for row in rows if row.own}
    assert own["m5"].bg_gap == pytest.approx(100 * found(run, "m5", "bg_gap")["value"])
    assert own["m5"].only_bg_t == pytest.approx(100 * found(run, "m5", "only_bg_t_accuracy")["value"])
    (resnet,) = [row for row in rows if row.name == "ResNet-50 trained on ImageNet" and row.source == "table 2"]
    assert (resnet.mixed_same, resnet.mixed_rand, resnet.bg_gap) == (91.0, 84.3, 6.7)
    told = {row.name: row.bg_gap for row in rows if row.source == "table 5"}
    assert told == pytest.approx({"ResNet-50 trained on original": 20.22, "ResNet-50 trained on mixed_rand": -0.20})
    assert all(row.own or "weights" in row.note or "trained" in row.note for row in rows)
    assert len([row for row in rows if not row.own]) == 10 + 2 + 3


def test_backgrounds_alone_are_set_against_guessing_and_the_published_leakage(
    run: Run, page: Page, values: RunBackgrounds
) -> None:
    """Table 5: 23.58 and 22.59 % of a network that saw no background, 15.33 and 14.62 % of one that saw any, chance 1 in 9."""
    rows = {row.name: row for row in hole_rows(values.models, values.guess.level)}
    for model in MODELS:
        for kind in ("only_bg_b", "only_bg_t"):
            one = found(run, model, f"{kind}_accuracy")
            assert rows[model].values[kind] == (one["value"], one["low"], one["high"])
            assert rows[model].guessing == pytest.approx(1 / 12)
    told = {
        name: [round(100 * row.values[kind][0], 2) for kind in ("only_bg_b", "only_bg_t")]
        for name, row in rows.items()
        if not row.own
    }
    assert told == {
        "ResNet-50 trained on only_fg": [23.58, 22.59],
        "ResNet-50 trained on mixed_rand": [15.33, 14.62],
    }
    assert {row.guessing for row in rows.values() if not row.own} == {1 / 9}
    assert "23.6%" in html_of(page)


def test_other_data_than_the_nine_classes_are_said_not_to_be_comparable(run: Run, page: Page) -> None:
    (published,) = every(Published, page)
    assert not published.comparable
    assert "Not the same data" in html_of(page)
    content = run.results()
    content["data"]["test"]["classes"] = NINE
    (published,) = every(Published, background_blocks(Results(content, run.facts, run)))
    assert published.comparable
    assert "Not the same data" not in html_of(Page("t", (published,)))
    assert of_nine_classes(NINE)
    assert not of_nine_classes(NINE[1:])


def test_the_verdict_says_the_gap_in_words(run: Run) -> None:
    gap = found(run, "m10", "bg_gap")
    said = background_sentences(Results.of(run), "m10")
    assert {term for term, _ in said} == {"Backgrounds"}
    assert f"a BG-Gap of {100 * gap['value']:.1f} points" in said[0][1]
    assert said[0][1] in markdown_of(brief_page_of(run)).replace("\\", "")


def test_every_chart_is_drawn(page: Page, values: RunBackgrounds) -> None:
    models = values.models
    charts = {chart.title: chart.spec for chart in every(Chart, under(page, "Backgrounds"))}
    assert charts["Accuracy on every variant"] == variants_chart(models, values.guess.level)
    assert charts["Background alone, by the size of the removed object"] == size_chart(models)
    assert charts["BG-Gap"] == published_chart(published_rows(models), list(MODELS))
    assert charts["Gaps between mixed variants"] == progress_chart(values.progress, "gap")
    assert all(svg(spec).startswith("<svg") for spec in charts.values())
    drawn = svg(charts["m0, by class"])
    assert models[0].classes
    assert all(name in drawn for name in models[0].classes)
    lines = progress_chart(values.progress, "accuracy")
    assert len({row["words"] for row in lines["layer"][0]["data"]["values"]}) == 7


def test_lines_over_models_are_named_by_what_they_are_about_not_by_their_labels(
    run: Run, values: RunBackgrounds
) -> None:
    gaps = [line.words for line in values.progress if line.finding.facts.what == "gap"]
    assert gaps == [
        "the same class minus any class",
        "any class minus the next class",
        "the same class minus the next class",
    ]
    for line in values.progress:
        facts = line.finding.facts
        assert line.height(0.5) == pytest.approx(facts.intercept + 0.5 * line.finding.value)


def test_each_category_shows_its_examples_with_the_answers_given(run: Run, page: Page) -> None:
    galleries = every(Gallery, under(page, "Backgrounds"))
    assert len(galleries) == len(MODELS)
    for model, gallery in zip(MODELS, galleries):
        examples = found(run, model, "needs_background")["facts"]["examples"]
        categories: dict[str, list[Any]] = {}
        for row in gallery.rows:
            if isinstance(row, Group):
                category = row.text.partition(":")[0]
            elif row.head.text != "no image":
                categories.setdefault(category, []).append(row)
        assert {name: len(rows) for name, rows in categories.items()} == {
            name: len(listed) for name, listed in examples.items() if listed
        }
        for category, rows in categories.items():
            for row in rows:
                assert all(picture.source.startswith("data:image/png") for picture in row.cells)
                right = tuple(picture.answers[0].right for picture in row.cells)
                expected = {"BG Required": (True, False, True), "BG Fools": (False, True, False)}
                assert right == expected.get(category, right)
                assert right[0] == (row.cells[0].answers[0].text == row.head.text)


def test_the_report_is_written_again_without_the_data(run: Run, tmp_path: Path) -> None:
    text = snellen.load_run(run.path).report(tmp_path / "again.html").read_text()
    assert text.count("<svg") >= 8
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_of_very_many_classes_those_that_need_it_most_have_a_bar(run: Run) -> None:
    content = run.results()
    for one in content["findings"]:
        if one["name"] == "needs_background":
            empty = dict.fromkeys(one["facts"]["counts"], 0)
            one["facts"]["by_class"] = {
                f"c{i}": {**empty, "BG Irrelevant": 100 - i, "BG Required": i} for i in range(100)
            }
    results = Results(content, run.facts, run)
    values = background_values(results)
    assert values is not None
    assert list(values.models[0].classes) == [f"c{i}" for i in range(99, 84, -1)]
    captions = [chart.caption for chart in every(Chart, background_blocks(results)) if chart.title == "m0, by class"]
    assert captions == [(("the 15 of 100 classes that need it most",),)]


def test_a_run_of_before_roles_and_examples_were_stored_is_read(run: Run) -> None:
    content = run.results()
    for finding in content["findings"]:
        for fact in ("examples", "roles", "stored"):
            finding["facts"].pop(fact, None)
    blocks = background_blocks(Results(content, run.facts, run))
    assert every(Gallery, blocks) == []
    assert len(every(Chart, blocks)) == len(every(Chart, background_blocks(Results.of(run))))


def test_no_word_of_a_finding_is_taken_apart(run: Run) -> None:
    content = run.results()
    content["findings"] = [finding | {"label": "x", "topic": "y", "text": "z"} for finding in content["findings"]]
    assert background_blocks(Results(content, run.facts, run)) == background_blocks(Results.of(run))


def test_the_findings_keep_their_schema(run: Run) -> None:
    import json

    import jsonschema

    from snellen.report.findings import SCHEMA

    jsonschema.validate(run.results(), json.loads(SCHEMA.read_text()))


def test_runs_without_the_audit_have_no_such_part(run: Run, calm: Run) -> None:
    content = {"findings": [], "models": {"m": ["m"]}, "data": {"test": {"classes": ["a"]}}}
    assert background_blocks(Results(content, run.facts, run)) == []
    assert "Backgrounds" not in titles(page_of(calm))
