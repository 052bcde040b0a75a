"""Accuracy against interpretability: which model pays least, by the published numbers and by ranks counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from snellen.audits.alignment_facts import EnergyFacts, GainFacts
from snellen.audits.concepts import ConceptFacts
from snellen.audits.deletion_curves import CurvePanels, DeletionFacts, PanelCurve
from snellen.audits.facts import FindingFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.engine.keep.run_folder import RunFolder
from snellen.report import html_of
from snellen.report.blocks import Chart, Page
from snellen.report.results import Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.interpretability import CRITERIA, closing_sentence, mean_ranks, measures_of
from snellen.report.sections.interpretability_charts import (
    HEIGHT,
    LINE,
    AccuracyPoint,
    Ends,
    against_accuracy,
    place_names,
)

from .reading import Reader, every
from .stored import stored

AUDITS = {
    "accuracy": "baseline",
    "energy_pg": "explanation",
    "gain_ratio": "explanation",
    "inter_model_deletion": "faithfulness",
    "unique_concepts": "concepts",
}
FIVE = ("baseline", "cutout", "mixup", "cutmix", "saliencymix")
ACCURACY = (0.7632, 0.7707, 0.7742, 0.7860, 0.7874)
ENERGY = {"gradcam": (0.566, 0.544, 0.541, 0.528, 0.524), "iba": (0.645, 0.575, 0.619, 0.570, 0.561)}
DELETION = {"gradcam": (67.416, 71.411, 65.115, 63.908, 64.711), "iba": (69.750, 73.679, 68.673, 67.890, 68.348)}


def facts_of(name: str, method: str = "", other: str = "") -> FindingFacts:
    """The facts of a finding of this name, of which only the method, or the model it is compared with, matters here."""
    how: dict[str, Any] = {"method": method, "layer": None}
    reading = {**how, "region": "box", "threshold": 0.15, "component": "all"}
    none = PanelCurve((), ())
    areas = {"se": 1.0, "se_steps": 1.0, "order_area": 80.0, "random_area": 10.0, "sampling_error": 0.0}
    counts = {"whole": (), "hidden": (), "asked": (0, 0), "full": (0, 0), "curves": CurvePanels(none, none, none)}
    units = {"layer": "last", "request": "dissection()", "units": 0, "images": 0, "threshold": 0.04}
    found = {"concepts": {}, "unique": {}, "detectors": {}, "best": ()}
    return {
        "energy_pg": lambda: EnergyFacts(
            **reading, even=0.3, empty_maps=0, without_object=0, standard_error=0.01, examples=()
        ),
        "gain_ratio": lambda: GainFacts(**reading, other=other, gain_inside=0.1, gain_whole=0.1, even=0.3),
        "inter_model_deletion": lambda: DeletionFacts(
            **how, tile=7, fill="image_mean", evaluation="full", **areas, **counts
        ),
        "unique_concepts": lambda: ConceptFacts(**units, **found),
    }.get(name, FindingFacts)()


def one(name: str, model: str, value: float | None, half: float | None = 0.01, **facts: str) -> StoredFinding[Any]:
    """A finding as it is read back; `half` is that of its interval."""
    known = value is not None and half is not None
    return stored(
        facts_of(name, **facts),
        audit=AUDITS.get(name, "other"),
        name=name,
        model=model,
        value=value,
        low=value - half if known else None,  # type: ignore[operator]
        high=value + half if known else None,  # type: ignore[operator]
        unit="share" if name in ("accuracy", "energy_pg", "calibration_error") else "index",
        better="lower" if name == "calibration_error" else "higher",
        distortions=["none()"],
    )


def results_of(findings: Sequence[StoredFinding[Any]], models: tuple[str, ...] = FIVE) -> Results:
    content = {
        "findings": [msgspec.to_builtins(finding) for finding in findings],
        "models": {model: [f"{model}-0"] for model in models},
    }
    return Results(content, {}, cast(RunFolder, None))


def published() -> list[StoredFinding[Any]]:
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
    alone = [row for row in published() if row.name != "inter_model_deletion"]
    assert show(results_of(alone)) == []
    assert show(results_of([row for row in published() if row.name != "accuracy"])) == []
    single = [row for row in published() if row.model == "cutmix"]
    assert show(results_of(single, ("cutmix",))) == []
    assert show(results_of([])) == []


def test_a_model_that_was_not_measured_throughout_is_drawn_but_not_ranked() -> None:
    findings = [row for row in published() if (row.name, row.model) != ("energy_pg", "cutout")]
    results = results_of(findings)
    assert closing_sentence(results).startswith("mixup pays least")
    without = [row for row in published() if (row.name, row.model) != ("energy_pg", "baseline")]
    assert closing_sentence(results_of(without)) == ""


def test_two_models_are_set_beside_each_other_and_not_ranked() -> None:
    findings = [row for row in published() if row.model in FIVE[:2] and getattr(row.facts, "method", "") != "iba"]
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


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_no_name_covers_another(places: list[tuple[float, float]]) -> None:
    points = [
        AccuracyPoint(f"model{row}", row, not row, Ends(x, x, x), Ends(y, y, y)) for row, (x, y) in enumerate(places)
    ]
    names = place_names(points, (-0.1, 1.1), (-0.1, 1.1))
    for row, first in enumerate(names):
        for second in names[:row]:
            beside = first.begin < second.end and second.begin < first.end
            assert not beside or abs(first.top - second.top) >= LINE * 0.999
        assert first.top <= HEIGHT + 8 * LINE
    assert len(against_accuracy(points, "y", True)["layer"]) == 5 + len(points)
