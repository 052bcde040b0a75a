"""One measure against accuracy: a named point per model with both intervals, and dashed lines through the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, colour

WIDTH, HEIGHT = 250, 210
LINE, LETTER = 13, 6.2  # pixels of a label's height and, on average, of a letter's width at 11 points
GAP = 7  # between a point and its label
MARGIN = 0.08  # of the range, free on either side
Point = Mapping[str, Any]  # model, place, baseline, and x and y with their ends


def against_accuracy(points: Sequence[Point], title: str, in_percent: bool) -> dict[str, Any]:
    """The chart of one measure; `title` is that of the vertical axis, which may be in percent."""
    x, y = (_scale(points, name) for name in "xy")
    across = {"field": "x", "type": "quantitative", "title": "accuracy", "scale": x, "axis": _ticks(True)}
    up = {"field": "y", "type": "quantitative", "title": title, "scale": y, "axis": _ticks(in_percent)}
    models = [point["model"] for point in points]
    hues = {"domain": models, "range": [colour(point["place"]) for point in points]}
    hue = {"field": "model", "type": "nominal", "scale": hues, "legend": None}
    dashed = {"type": "rule", "strokeDash": [3, 3], "color": INK, "opacity": 0.5}
    bar = {"type": "rule", "opacity": 0.6}
    baseline = {"values": [point for point in points if point["baseline"]]}
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": list(points)},
        "layer": [
            {"data": baseline, "mark": dashed, "encoding": {"x": across}},
            {"data": baseline, "mark": dashed, "encoding": {"y": up}},
            {"mark": bar, "encoding": {"x": {**across, "field": "x_low"}, "x2": {"field": "x_high"}, "y": up, "color": hue}},
            {"mark": bar, "encoding": {"x": across, "y": {**up, "field": "y_low"}, "y2": {"field": "y_high"}, "color": hue}},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 60},
                "encoding": {"x": across, "y": up, "color": hue},
            },
            *(
                {
                    "data": {"values": [label]},
                    "mark": {"type": "text", "align": label["align"], "dx": label["dx"], "fontSize": 11, "color": INK},
                    "encoding": {"x": across, "y": up, "text": {"field": "model"}},
                }
                for label in labels(points, x["domain"], y["domain"])
            ),
        ],
        "config": CONFIG,
    }  # fmt: skip


def labels(points: Sequence[Point], x: Sequence[float], y: Sequence[float]) -> list[dict[str, Any]]:
    """Where the names stand: beside their points, on the side that has more room, moved so that none covers another."""
    placed: list[dict[str, Any]] = []
    for point in sorted(points, key=lambda one: -one["y"]):
        left, top = _pixels(point["x"], x, WIDTH), HEIGHT - _pixels(point["y"], y, HEIGHT) - LINE / 2 - 1
        to_left = left > WIDTH / 2
        width = LETTER * len(point["model"])
        begin = left - GAP - width if to_left else left + GAP
        for other in sorted(placed, key=lambda one: one["top"]):  # from the top down, so that it is free of all before
            beside = other["begin"] < begin + width and begin < other["end"]
            if beside and abs(top - other["top"]) < LINE:
                top = other["top"] + LINE
        placed.append(
            {
                "model": point["model"],
                "x": point["x"],
                "y": y[0] + (HEIGHT - top) / HEIGHT * (y[1] - y[0]),
                "align": "right" if to_left else "left",
                "dx": -GAP if to_left else GAP,
                "begin": begin,
                "end": begin + width,
                "top": top,
            }
        )
    return placed


def _scale(points: Sequence[Point], axis: str) -> dict[str, Any]:
    """From the lowest to the highest end of an interval, with a margin."""
    low, high = min(point[f"{axis}_low"] for point in points), max(point[f"{axis}_high"] for point in points)
    margin = MARGIN * (high - low) or 0.05 * abs(low) or 1.0
    return {"domain": [low - margin, high + margin], "zero": False, "nice": False}


def _pixels(value: float, domain: Sequence[float], length: int) -> float:
    return (value - domain[0]) / (domain[1] - domain[0]) * length


def _ticks(in_percent: bool) -> dict[str, Any]:
    return {"tickCount": 5, **({"format": ".0~%"} if in_percent else {})}
