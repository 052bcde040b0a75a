"""Calibration: whether confidence can be taken at its word, as a reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.audits.calibration import CalibrationFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Chart, FactLine, Heading, Panels, lead, note
from snellen.report.charts import by_name, chart, diagonal, layer, lines, share
from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.words import interval, is_known, percent


def calibration_blocks(results: Results) -> list[Block]:
    """The reliability diagram of all models; nothing without this audit."""
    errors = [finding for finding in results.having(CalibrationFacts) if is_known(finding.value)]
    if not errors:
        return []
    return [
        Heading("Calibration"),
        lead(
            "How often models are right where they are so sure. On the dashed line confidence can be taken at its word."
        ),
        FactLine(results.keys()),
        Panels((Chart("Reliability", reliability_chart(errors, list(results.models))),)),
        note(
            f"Answers in {errors[0].facts.bins} bins of confidence; the larger a point, the more answers. Below the line a "
            "model is too sure of itself."
        ),
    ]


def reliability_chart(errors: Sequence[StoredFinding[CalibrationFacts]], models: Sequence[str]) -> dict[str, Any]:
    """Accuracy against confidence, a line for each model, over the line where both are equal."""
    points = [
        {"model": error.model, "confidence": sure, "accuracy": right, "share": share}
        for error in errors
        for sure, right, share in zip(error.facts.confidence, error.facts.accuracy, error.facts.share)
        if share
    ]
    at = {
        "x": share("confidence", "confidence"),
        "y": share("accuracy", "accuracy"),
        "color": by_name("model", models),
    }
    size = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [16, 500]}, "legend": None}
    spots = layer("point", {**at, "size": size}, filled=True, opacity=0.85)
    return chart(300, 300, points, diagonal(at["x"], at["y"], (4, 3)), lines(at, 1.6), spots)


def calibration_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How far confidence is from accuracy, and on which side."""
    own = (finding for finding in results.having(CalibrationFacts) if finding.model == model)
    error = next((finding for finding in own if is_known(finding.value)), None)
    if error is None:
        return []
    ends = interval(error.low, error.high, "share")
    return [
        (
            "Confidence",
            f"Off by {percent(error.value)} (95% interval {ends}%{_plug_in(error.facts)}); {_side(error.facts)}.",
        )
    ]


def _side(facts: CalibrationFacts) -> str:
    """Whether confidence is clearly above or below accuracy on average; of older runs, without an interval, on these images."""
    if is_known(excess := facts.excess):
        if is_known(facts.excess_low) and facts.excess_low > 0:
            return f"by {percent(excess)} too sure of itself on average"
        if is_known(facts.excess_high) and facts.excess_high < 0:
            return f"by {percent(-excess)} too unsure of itself on average"
        return "not shown to be too sure or too unsure of itself on average"
    bins = zip(facts.share, facts.confidence, facts.accuracy)
    gap = sum(share * (sure - right) for share, sure, right in bins if share and sure is not None and right is not None)
    return f"by {percent(abs(gap))} too {'sure' if gap > 0 else 'unsure'} of itself on these images, on average"


def _plug_in(facts: CalibrationFacts) -> str:
    """The value by the published formula, for comparisons with papers; older runs have no other."""
    if is_known(facts.plug_in):
        return f"; plug-in value, to which noise adds: {percent(facts.plug_in)}"
    return "; plug-in value, to which noise adds"


CALIBRATION = Section(
    blocks=calibration_blocks,
    verdict=calibration_sentence,
    effects=frozenset({"calibration_error"}),
    columns={"calibration error": lambda finding: finding.name == "calibration_error"},
    meanings={
        "Calibration error": "The mean distance of accuracy from confidence over bins of confidence (ECE, Guo et al. 2017): 0 "
        "for a model that is right in 80% of the cases in which it is 80% sure. Corrected for noise, which adds to the plug-in "
        "value of the published formula: that one is above 0 even for a perfect model."
    },
)
