"""The panels of faithfulness: scores while tiles are deleted or inserted, by an order, at random, and the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, PERCENT, by_name, dashes_by_name

SIDE = {"width": 250, "height": 190}
Curve = Mapping[str, Sequence[float | None]]  # value and se at each step


def curve_points(model: str, curve: Curve) -> list[dict[str, Any]]:
    """A model's curve as rows of a chart, with one standard error to either side."""
    count = len(curve["value"])
    return [
        {
            "model": model,
            "share": step / (count - 1),
            "value": value,
            "low": value - (se or 0),
            "high": value + (se or 0),
        }
        for step, (value, se) in enumerate(zip(curve["value"], curve["se"]))
        if value is not None
    ]


def panel_chart(points: Sequence[Mapping[str, Any]], models: Sequence[str], x: str, y: str) -> dict[str, Any]:
    """One panel: a line and a band of one standard error per model, and a thin rule at 0."""
    across = {"field": "share", "type": "quantitative", "title": x, "scale": {"domain": [0, 1]}, "axis": PERCENT}
    up = {
        "field": "value",
        "type": "quantitative",
        "title": y,
        "axis": {"tickCount": 5, "format": ".1f", "titlePadding": 8},
    }
    hue = by_name("model", models)
    return {
        **SIDE,
        "data": {"values": list(points)},
        "layer": [
            {
                "data": {"values": [{"zero": 0}]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": INK, "opacity": 0.5},
                "encoding": {"y": {"field": "zero", "type": "quantitative"}},
            },
            {
                "mark": {"type": "area", "opacity": 0.18},
                "encoding": {"x": across, "y": {**up, "field": "low"}, "y2": {"field": "high"}, "color": hue},
            },
            {
                "mark": {"type": "line", "strokeWidth": 1.8},
                "encoding": {"x": across, "y": up, "color": hue, "strokeDash": dashes_by_name("model", models)},
            },
        ],
        "config": CONFIG,
    }
