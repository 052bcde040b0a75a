"""The models side by side: one row per model, in HTML and Markdown."""

from __future__ import annotations

import copy
import statistics

from snellen.exam.run import Run
from snellen.report import brief_page_of, html_of, markdown_of, page_of
from snellen.report.blocks import Table, TableCell
from snellen.report.comparison import comparison
from snellen.report.results import Results
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, in_unit

from .reading import every, rows


def named(run: Run, model: str, name: str, distortion: str = "") -> dict:
    return next(
        one for one in run.results()["findings"]
        if (one["model"], one["name"]) == (model, name) and one["distortions"][0].startswith(distortion)
    )  # fmt: skip


def compared(results: Results) -> Table:
    (table,) = every(Table, comparison(results))
    return table


def test_every_cell_is_the_finding_with_its_spread_over_runs(fooled: Run) -> None:
    table = compared(Results.of(fooled))
    assert [cell.text for cell in table.head] == [
        "model", "Clean accuracy", "Accuracy: 4×4 patches shuffled", "Accuracy: black squares of all sizes"
    ]  # fmt: skip
    assert [(row.head.text, row.head.note) for row in rows(table)] == [("naive", "3 runs"), ("wise", "3 runs")]
    for row in rows(table):
        clean, shuffled, covered = row.cells
        expected = named(fooled, row.head.text, "accuracy")
        assert clean.value == expected["value"]
        std = statistics.stdev(expected["per_run"])
        assert clean.text == f"{in_unit(expected['value'], 'share')} ± {100 * std:.1f}"
        assert shuffled.value == named(fooled, row.head.text, "distorted_accuracy", "shuffle")["value"]
        assert covered.value == named(fooled, row.head.text, "cut_occlusion", "occlude")["value"]
        finding = next(one for one in Results.of(fooled).of_model(row.head.text) if one.name == "cut_occlusion")
        assert covered.badge == di_badge(finding, with_spread=True)
    naive, wise = (named(fooled, model, "cut_occlusion")["interference"] for model in ("naive", "wise"))
    assert naive["dominant"] == "eel"
    assert "eel ▲" in rows(table)[0].cells[2].badge.text
    assert naive["index"] > wise["index"]


def test_it_is_drawn_in_html_and_markdown(fooled: Run) -> None:
    brief = markdown_of(brief_page_of(fooled))
    section = brief.partition("## The models side by side")[2].partition("## Findings")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    clean = named(fooled, "naive", "accuracy")
    assert f"{100 * clean['value']:.1f}% ± {100 * statistics.stdev(clean['per_run']):.1f}" in lines[2]
    assert "eel ▲" in lines[2]
    assert "The models side by side" in html_of(page_of(fooled))


def test_iocclusion_is_its_last_column_and_a_model_without_it_has_a_dash(fooled: Run) -> None:
    results = copy.deepcopy(fooled.results())
    added = {
        **named(fooled, "wise", "cut_occlusion"), "name": "mean_iocclusion", "value": 1.25, "unit": "index",
        "facts": {"masking": "occlude", "fill": "black", "std": 0.25}, "per_run": [1.0, 1.25, 1.5],
        "label": "Train–test gap left (iOcclusion), mean over sizes, black squares",
    }  # fmt: skip
    results["findings"].append(added)
    table = compared(Results(results, fooled.facts, fooled))
    assert table.head[-1].text == "Train–test gap left (iOcclusion), mean over sizes, black squares"
    assert rows(table)[0].cells[-1] == TableCell(UNKNOWN)
    assert rows(table)[1].cells[-1].text == "1.25 ± 0.25"


def test_a_single_model_is_not_compared(calm: Run) -> None:
    assert comparison(Results.of(calm)) == []
    assert "side by side" not in html_of(page_of(calm))
