"""A chart of attention: the share on a region under each condition, beside even attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, PERCENT, by_name


def mass_chart(points: Sequence[Mapping[str, Any]], models: Sequence[str]) -> dict[str, Any]:
    """A point with its interval per model and condition, lines through them, and even attention dashed."""
    order = list(dict.fromkeys(point["condition"] for point in points))
    x = {"field": "condition", "type": "nominal", "title": None, "sort": order, "axis": {"labelAngle": -30}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": "share of attention",
        "axis": PERCENT,
        "scale": {"domain": [0, 1]},
    }
    hue = by_name("model", models)
    even = {**y, "field": "even", "aggregate": "mean"}
    return {
        "width": 300,
        "height": 200,
        "data": {"values": list(points)},
        "layer": [
            {"mark": {"type": "line", "strokeDash": [3, 3], "color": INK, "opacity": 0.6}, "encoding": {"x": x, "y": even}},
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": hue}},
            {"mark": {"type": "rule"}, "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue}},
            {"mark": {"type": "point", "filled": True, "size": 40}, "encoding": {"x": x, "y": y, "color": hue}},
        ],
        "config": CONFIG,
    }  # fmt: skip
