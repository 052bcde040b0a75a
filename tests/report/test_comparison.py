"""The models side by side: one row per model, in HTML and Markdown."""

from __future__ import annotations

import copy
import statistics

import pytest

from snellen.exam.run import Run
from snellen.report import html_of, markdown_of, page_of
from snellen.report.comparison import comparison_of


def named(run: Run, model: str, name: str, distortion: str = "") -> dict:
    return next(
        one for one in run.results()["findings"]
        if (one["model"], one["name"]) == (model, name) and one["distortions"][0].startswith(distortion)
    )  # fmt: skip


def test_every_cell_is_the_finding_with_its_spread_over_runs(fooled: Run) -> None:
    held = comparison_of(fooled.results())
    assert held is not None
    assert held["columns"] == ["Clean accuracy", "Accuracy: 4×4 patches shuffled", "CutOcclusion, black squares"]
    assert [(row["model"], row["runs"]) for row in held["rows"]] == [("naive", 3), ("wise", 3)]
    for row in held["rows"]:
        clean, shuffled, covered = row["cells"]
        expected = named(fooled, row["model"], "accuracy")
        assert clean["value"] == expected["value"]
        assert clean["std"] == pytest.approx(statistics.stdev(expected["per_run"]))
        assert shuffled["value"] == named(fooled, row["model"], "distorted_accuracy", "shuffle")["value"]
        assert covered["value"] == named(fooled, row["model"], "cut_occlusion", "occlude")["value"]
    naive, wise = (row["cells"][2] for row in held["rows"])
    assert naive["trust"]["dominant"] == "eel"
    assert naive["trust"]["index"] > wise["trust"]["index"]


def test_it_is_drawn_in_html_and_markdown(fooled: Run) -> None:
    page = page_of(fooled)
    told = markdown_of(page)
    section = told.partition("## The models side by side")[2].partition("## Findings")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    clean = named(fooled, "naive", "accuracy")
    assert f"{100 * clean['value']:.1f} % ± {100 * statistics.stdev(clean['per_run']):.1f}" in lines[2]
    assert "eel ▲" in lines[2]
    assert "The models side by side" in html_of(page)


def test_iocclusion_is_its_last_column_and_a_model_without_it_has_a_dash(fooled: Run) -> None:
    results = copy.deepcopy(fooled.results())
    added = {
        **named(fooled, "wise", "cut_occlusion"), "name": "mean_iocclusion", "value": 1.25, "unit": "index",
        "facts": {"masking": "occlude", "fill": "black"}, "per_run": [1.0, 1.25, 1.5],
        "label": "iOcclusion, mean over sizes, black squares",
    }  # fmt: skip
    results["findings"].append(added)
    held = comparison_of(results)
    assert held is not None
    assert held["columns"][-1] == "iOcclusion, mean over sizes, black squares"
    assert held["rows"][0]["cells"][-1] is None
    assert held["rows"][1]["cells"][-1]["std"] == pytest.approx(0.25)


def test_a_single_model_is_not_compared(calm: Run) -> None:
    assert comparison_of(calm.results()) is None
    assert "side by side" not in html_of(page_of(calm))
