"""Accuracy against interpretability: which model pays least, by the published numbers and by ranks counted by hand."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from snellen.engine.keep.run_folder import RunFolder
from snellen.report import html_of
from snellen.report.blocks import Chart, Page
from snellen.report.results import Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.interpretability import CRITERIA, closing_sentence, mean_ranks, measures_of
from snellen.report.sections.interpretability_charts import HEIGHT, LINE, against_accuracy, labels

from .reading import Reader, every

FIVE = ("baseline", "cutout", "mixup", "cutmix", "saliencymix")
ACCURACY = (0.7632, 0.7707, 0.7742, 0.7860, 0.7874)
ENERGY = {"gradcam": (0.566, 0.544, 0.541, 0.528, 0.524), "iba": (0.645, 0.575, 0.619, 0.570, 0.561)}
DELETION = {"gradcam": (67.416, 71.411, 65.115, 63.908, 64.711), "iba": (69.750, 73.679, 68.673, 67.890, 68.348)}


def one(name: str, model: str, value: float | None, half: float | None = 0.01, **facts: Any) -> dict[str, Any]:
    """A finding as findings.json has it; `half` is that of its interval."""
    known = value is not None and half is not None
    unit = "share" if name in ("accuracy", "energy_pg", "calibration_error") else "index"
    return {
        "audit": "baseline" if name == "accuracy" else "other",
        "name": name,
        "model": model,
        "value": value,
        "low": value - half if known else None,  # type: ignore[operator]
        "high": value + half if known else None,  # type: ignore[operator]
        "unit": unit,
        "better": "lower" if name == "calibration_error" else "higher",
        "on": "test",
        "distortions": ["none()"],
        "facts": facts,
    }


def results_of(findings: list[dict[str, Any]], models: tuple[str, ...] = FIVE) -> Results:
    content = {"findings": findings, "models": {model: [f"{model}-0"] for model in models}}
    return Results(content, {}, cast(RunFolder, None))


def published() -> list[dict[str, Any]]:
    """Tables 1 and 2 of Won et al. (2023), with the errors of the five networks."""
    findings = [one("accuracy", model, value) for model, value in zip(FIVE, ACCURACY)]
    for name, table, half in (("energy_pg", ENERGY, 0.01), ("inter_model_deletion", DELETION, 0.5)):
        for method, values in table.items():
            findings += [one(name, model, value, half, method=method) for model, value in zip(FIVE, values)]
    return findings


def test_of_the_published_networks_cutout_pays_least() -> None:
    """Ranks by hand: alignment 1.5, 1.5, 3, 4 and faithfulness 1, 2, 4, 3 of Cutout, Mixup, CutMix and SaliencyMix."""
    results = results_of(published())
    ranks = mean_ranks(measures_of(results, CRITERIA), FIVE[1:])
    assert ranks == {"cutout": 1.25, "mixup": 1.75, "cutmix": 3.5, "saliencymix": 3.5}
    assert closing_sentence(results) == (
        "cutout pays least in interpretability: beside baseline it has −2.2 points of EnergyPG by gradcam, −7.0 points of "
        "EnergyPG by iba, +4.00 inter-model deletion by gradcam and +3.93 inter-model deletion by iba, with +0.8 points of "
        "accuracy. Next is mixup, from which its intervals do not tell it apart in 1 of 4 measures."
    )


def test_the_page_has_a_chart_for_each_measure_with_every_model_named() -> None:
    findings = published()
    findings += [one("unique_concepts", model, count, None) for model, count in zip(FIVE, (40, 38, 39, 37, 30.5))]
    findings += [one("calibration_error", model, value) for model, value in zip(FIVE, (0.04, 0.05, 0.1, 0.08, 0.08))]
    blocks = SECTIONS["interpretability"].blocks(results_of(findings))
    page = Page("x", tuple(blocks))
    titles = [chart.title for chart in every(Chart, page)]
    assert titles == [
        "EnergyPG by gradcam",
        "EnergyPG by iba",
        "Inter-model deletion by gradcam",
        "Inter-model deletion by iba",
        "Different concepts",
        "Calibration error",
    ]
    text = Reader(html_of(page)).text
    for model in FIVE:
        assert text.count(model) >= len(titles)
    assert (text.count("higher is better"), text.count("lower is better")) == (5, 1)
    assert "−2 different concepts" in text
    assert "Accuracy does not count, nor does calibration." in text


def test_the_baseline_is_that_of_the_audit_explanation() -> None:
    findings = [*published(), one("gain_ratio", "mixup", 0.3, other="cutmix")]
    assert "beside cutmix it has" in closing_sentence(results_of(findings))


def test_nothing_is_shown_without_two_criteria_of_two_models() -> None:
    show = SECTIONS["interpretability"].blocks
    alone = [row for row in published() if row["name"] != "inter_model_deletion"]
    assert show(results_of(alone)) == []
    assert show(results_of([row for row in published() if row["name"] != "accuracy"])) == []
    single = [row for row in published() if row["model"] == "cutmix"]
    assert show(results_of(single, ("cutmix",))) == []
    assert show(results_of([])) == []


def test_a_model_that_was_not_measured_throughout_is_drawn_but_not_ranked() -> None:
    findings = [row for row in published() if (row["name"], row["model"]) != ("energy_pg", "cutout")]
    results = results_of(findings)
    assert closing_sentence(results).startswith("mixup pays least")
    without = [row for row in published() if (row["name"], row["model"]) != ("energy_pg", "baseline")]
    assert closing_sentence(results_of(without)) == ""


def test_two_models_are_set_beside_each_other_and_not_ranked() -> None:
    findings = [row for row in published() if row["model"] in FIVE[:2] and row["facts"].get("method") != "iba"]
    assert closing_sentence(results_of(findings, FIVE[:2])) == (
        "Beside baseline, cutout has −2.2 points of EnergyPG and +4.00 inter-model deletion, with +0.8 points of accuracy."
    )


def test_models_that_cannot_be_told_apart_are_said_to_be_so() -> None:
    findings = [one("accuracy", model, 0.8) for model in FIVE[:3]]
    findings += [one("energy_pg", model, value) for model, value in zip(FIVE, (0.5, 0.4, 0.4))]
    findings += [one("unique_concepts", model, value, None) for model, value in zip(FIVE, (9, 8, 8))]
    equal = closing_sentence(results_of(findings, FIVE[:3]))
    assert equal.startswith(
        "cutout and mixup pay least in interpretability, at the same mean rank. Beside baseline, cutout has"
    )
    findings[4] = one("energy_pg", "cutout", 0.401)
    assert closing_sentence(results_of(findings, FIVE[:3])).endswith(
        "Next is mixup, from which its intervals do not tell it apart in 1 of 1 measure, so their order may be chance."
    )


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.booleans())
def test_ranks_are_those_of_scipy(values: list[int], lower: bool) -> None:
    name = "calibration_error" if lower else "energy_pg"
    models = FIVE[: len(values)]
    findings = [one("accuracy", model, 0.5) for model in FIVE]
    findings += [one(name, model, float(value)) for model, value in zip(FIVE, [*values, *[0] * 5])]
    ranks = mean_ranks(measures_of(results_of(findings), {name: "x"}), models)
    expected = rankdata([value if lower else -value for value in values])
    assert list(ranks.values()) == pytest.approx(expected)


def ends(axis: str, value: float) -> dict[str, float]:
    return {axis: value, f"{axis}_low": value, f"{axis}_high": value}


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_no_name_covers_another(places: list[tuple[float, float]]) -> None:
    points = [
        {"model": f"model{row}", "place": row, "baseline": not row, **ends("x", x), **ends("y", y)}
        for row, (x, y) in enumerate(places)
    ]
    names = labels(points, (-0.1, 1.1), (-0.1, 1.1))
    for row, first in enumerate(names):
        for second in names[:row]:
            beside = first["begin"] < second["end"] and second["begin"] < first["end"]
            assert not beside or abs(first["top"] - second["top"]) >= LINE * 0.999
        assert first["top"] <= HEIGHT + 8 * LINE
    assert len(against_accuracy(points, "y", True)["layer"]) == 5 + len(points)
