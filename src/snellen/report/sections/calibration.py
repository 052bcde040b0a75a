"""Calibration: whether confidence can be taken at its word, as a reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.report.blocks import Block, Chart, Facts, Heading, Panels, lead, note
from snellen.report.charts import CONFIG, INK, PERCENT, by_name
from snellen.report.results import Finding, Results
from snellen.report.sections.section import Section
from snellen.report.words import interval, is_known, percent

AUDIT = "calibration"


def calibration_blocks(results: Results) -> list[Block]:
    """The reliability diagram of all models; nothing without this audit."""
    errors = [one for one in results.of_audit(AUDIT) if is_known(one["value"])]
    if not errors:
        return []
    return [
        Heading("Calibration"),
        lead(
            "How often models are right where they are so sure. On the dashed line confidence can be taken at its word."
        ),
        Facts(results.keys()),
        Panels((Chart("Reliability", reliability_chart(errors, list(results.models))),)),
        note(
            f"Answers in {errors[0]['facts']['bins']} bins of confidence; the larger a point, the more answers. Below the line a "
            "model is too sure of itself."
        ),
    ]


def reliability_chart(errors: Sequence[Finding], models: Sequence[str]) -> dict[str, Any]:
    """Accuracy against confidence, a line for each model, over the line where both are equal."""
    points = [
        {"model": one["model"], "confidence": sure, "accuracy": right, "share": share}
        for one in errors
        for sure, right, share in zip(*(one["facts"][name] for name in ("confidence", "accuracy", "share")))
        if share
    ]
    scale = {"domain": [0, 1]}
    x = {"field": "confidence", "type": "quantitative", "title": "confidence", "scale": scale, "axis": PERCENT}
    y = {"field": "accuracy", "type": "quantitative", "title": "accuracy", "scale": scale, "axis": PERCENT}
    hue = by_name("model", models)
    size = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [16, 500]}, "legend": None}
    return {
        "width": 300,
        "height": 300,
        "layer": [
            {
                "data": {"values": [{"at": 0}, {"at": 1}]},
                "mark": {"type": "line", "strokeDash": [4, 3], "color": INK, "opacity": 0.6},
                "encoding": {
                    "x": {"field": "at", "type": "quantitative", "scale": scale},
                    "y": {"field": "at", "type": "quantitative", "scale": scale},
                },
            },
            {
                "data": {"values": points},
                "mark": {"type": "line", "strokeWidth": 1.6},
                "encoding": {"x": x, "y": y, "color": hue},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "opacity": 0.85},
                "encoding": {"x": x, "y": y, "color": hue, "size": size},
            },
        ],
        "config": CONFIG,
    }


def calibration_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How far confidence is from accuracy, and on which side."""
    one = next((one for one in results.of_audit(AUDIT) if one["model"] == model and is_known(one["value"])), None)
    if one is None:
        return []
    facts = one["facts"]
    gap = sum(
        share * (sure - right)
        for share, sure, right in zip(facts["share"], facts["confidence"], facts["accuracy"])
        if share
    )
    side = f"by {percent(abs(gap))} too {'sure' if gap > 0 else 'unsure'} of itself on average"
    ends = interval(one["low"], one["high"], "share")
    return [("Confidence", f"Off by {percent(one['value'])} (95% interval {ends}%); {side}.")]


CALIBRATION = Section(
    blocks=calibration_blocks,
    verdict=calibration_sentence,
    columns={"calibration error": lambda one: one["name"] == "calibration_error"},
    meanings={
        "Calibration error": "The mean distance of accuracy from confidence over bins of confidence (ECE, Guo et al. 2017): 0 "
        "for a model that is right in 80% of the cases in which it is 80% sure."
    },
)
