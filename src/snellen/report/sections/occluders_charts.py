"""Charts of occluders: accuracy by level, ranks by type, and accuracy at the depths of a class tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, PERCENT, colour, dash

Points = Sequence[Mapping[str, Any]]
PEOPLE = "people"


def level_chart(points: Points, names: Sequence[str], title: str, order: Sequence[str]) -> dict[str, Any]:
    """Accuracy against the level of occlusion, a line for each model and for people; a level without images has no point."""
    x = {"field": "level", "type": "ordinal", "title": title, "sort": list(order), "axis": {"labelAngle": 0}}
    return _lines(points, names, x, {"width": 240, "height": 190})


def depth_chart(points: Points, names: Sequence[str]) -> dict[str, Any]:
    """Accuracy against the depth of the class tree at which answers are scored (figure 11 of Kassaw et al. 2024)."""
    x = {"field": "level", "type": "ordinal", "title": "depth of the class tree", "axis": {"labelAngle": 0}}
    return _lines(points, names, x, {"width": 240, "height": 190})


def rank_chart(points: Points, names: Sequence[str], judges: Sequence[str], models: int) -> dict[str, Any]:
    """The rank of each model by each type of occluder, the best on top (figure 9 of Kassaw et al. 2024)."""
    x = {"field": "judge", "type": "nominal", "title": None, "sort": list(judges), "axis": {"labelAngle": -35}}
    y = {"field": "rank", "type": "quantitative", "title": "rank, 1 the best", "axis": {"values": list(range(1, models + 1)),
         "format": "d"}, "scale": {"domain": [models + 0.3, 0.7], "nice": False}}  # fmt: skip
    hue, pattern = _colours(names), _dashes(names)
    return {
        "width": max(260, 46 * len(judges)),
        "height": max(150, 26 * models),
        "data": {"values": list(points)},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": hue, "strokeDash": pattern},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 46},
                "encoding": {"x": x, "y": y, "color": hue},
            },
        ],
        "config": CONFIG,
    }


def _lines(points: Points, names: Sequence[str], x: Mapping[str, Any], size: Mapping[str, int]) -> dict[str, Any]:
    y = {"field": "value", "type": "quantitative", "title": "accuracy", "scale": {"domain": [0, 1]}, "axis": PERCENT}
    hue, pattern = _colours(names), _dashes(names)
    bars = [one for one in points if one["low"] is not None and one["high"] is not None]
    return {
        **size,
        "data": {"values": list(points)},
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 1.5},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": hue, "strokeDash": pattern},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 36},
                "encoding": {"x": x, "y": y, "color": hue},
            },
        ],
        "config": CONFIG,
    }


def _colours(names: Sequence[str]) -> dict[str, Any]:
    """Models in the colours of the page, people in that of its text."""
    shades = [INK if name == PEOPLE else colour(place) for place, name in enumerate(names)]
    return {"field": "model", "type": "nominal", "scale": {"domain": list(names), "range": shades}, "legend": None}


def _dashes(names: Sequence[str]) -> dict[str, Any]:
    patterns = [[3, 2] if name == PEOPLE else dash(place) for place, name in enumerate(names)]
    return {"field": "model", "type": "nominal", "scale": {"domain": list(names), "range": patterns}, "legend": None}
