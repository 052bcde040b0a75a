"""Charts of explanations: how WSOL hangs on its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, PERCENT, by_name, dashes_by_name


def sweep_chart(
    points: Sequence[Mapping[str, Any]], models: Sequence[str], threshold: float, title: str
) -> dict[str, Any]:
    """A line per model over the thresholds, a band of one standard error where there is one, the chosen threshold dashed."""
    x = {"field": "threshold", "type": "quantitative", "title": "threshold, share of the map’s maximum",
         "scale": {"domain": [0, 1]}, "axis": PERCENT}  # fmt: skip
    y = {"field": "value", "type": "quantitative", "title": title, "scale": {"domain": [0, 1]}, "axis": PERCENT}
    hue = by_name("model", models)
    return {
        "width": 340,
        "height": 220,
        "data": {"values": list(points)},
        "layer": [
            {
                "data": {"values": [{"at": threshold}]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": INK, "opacity": 0.6},
                "encoding": {"x": {"field": "at", "type": "quantitative"}},
            },
            {
                "mark": {"type": "area", "opacity": 0.16},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": hue, "strokeDash": dashes_by_name("model", models)},
            },
        ],
        "config": CONFIG,
    }
