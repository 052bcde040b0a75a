"""Charts of worst-case edits: how accuracy is spread over random tuples, and how a search brings it down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import BAR, CONFIG, INK, PERCENT, WARN, by_name

Rows = Sequence[Mapping[str, Any]]


def density_chart(bins: Rows, threshold: float, lowest: Sequence[float], accuracy: str = "accuracy") -> dict[str, Any]:
    """Random tuples by the accuracy under them, a dashed rule at the 0.1% threshold, a flag at what each search found."""
    x = {"field": "low", "type": "quantitative", "title": f"{accuracy} under a random tuple of edits", "axis": PERCENT,
         "bin": {"binned": True}, "scale": {"zero": False}}  # fmt: skip
    plain = {"field": "at", "type": "quantitative"}
    return {
        "width": 340,
        "height": 200,
        "layer": [
            {
                "data": {"values": list(bins)},
                "mark": {"type": "bar", "color": BAR},
                "encoding": {
                    "x": x,
                    "x2": {"field": "high"},
                    "y": {"field": "count", "type": "quantitative", "title": "tuples"},
                },
            },
            {
                "data": {"values": [{"at": threshold}]},
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": INK, "strokeWidth": 1.4},
                "encoding": {"x": plain},
            },
            {
                "data": {"values": [{"at": value} for value in lowest]},
                "mark": {
                    "type": "point",
                    "shape": "triangle-down",
                    "filled": True,
                    "size": 90,
                    "color": WARN,
                    "yOffset": -4,
                },
                "encoding": {"x": plain, "y": {"value": 200}},
            },
        ],
        "config": CONFIG,
    }


def minima_chart(points: Rows, models: Sequence[str], accuracy: str = "accuracy") -> dict[str, Any]:
    """The lowest accuracy so far against the number of evaluations, a stepped line for each search."""
    return {
        "width": 340,
        "height": 200,
        "data": {"values": list(points)},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
        "encoding": {
            "x": {"field": "evaluations", "type": "quantitative", "title": "evaluations", "axis": {"tickCount": 5}},
            "y": {"field": "accuracy", "type": "quantitative", "title": f"lowest {accuracy} so far", "axis": PERCENT,
                  "scale": {"domain": [0, 1]}},
            "color": by_name("model", models),
            "detail": {"field": "search"},
        },
        "config": CONFIG,
    }  # fmt: skip
