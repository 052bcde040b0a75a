"""Charts of a sweep: Vega-Lite as plain dictionaries, in the colours of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import COLOURS, CONFIG, INK, PERCENT, by_name, dashes_by_name

POINT_SHAPES = ("circle", "square", "diamond")
LEGEND = {"labelColor": INK, "titleColor": INK, "title": None, "orient": "right", "labelLimit": 240}


def accuracy_chart(result: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy on each test against the axis (a log scale), with its 95% interval."""
    return _curves(result, [row for row in result["rows"] if row["measure"] == "accuracy"], "accuracy")


def gap_chart(result: Mapping[str, Any]) -> dict[str, Any]:
    """Each gap against the axis, with its 95% interval; 0 is always there."""
    return _curves(result, [row for row in result["rows"] if row["measure"] != "accuracy"], "gap")


def against_chart(result: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    """The accuracy on the second test against that on the first, a point per model; on the diagonal there is no gap."""
    accuracies = {(row["point"], row["test"]): row for row in result["rows"] if row["measure"] == "accuracy"}
    names = list(dict.fromkeys(point for point, _ in accuracies))
    values = [
        {"point": name, **{f"{axis}{end}": accuracies[name, test][end] for axis, test in (("x", first), ("y", second))
                           for end in ("value", "low", "high")}}
        for name in names
    ]  # fmt: skip
    x = _share("xvalue", f"accuracy on {first}")
    y = _share("yvalue", f"accuracy on {second}")
    hue, shape = _hue_and_shape(names)
    rule = {"type": "rule", "strokeWidth": 1.4}
    return {
        "width": 340,
        "height": 340,
        "data": {"values": values},
        "layer": [
            {
                "data": {"values": [{"xvalue": 0, "yvalue": 0}, {"xvalue": 1, "yvalue": 1}]},
                "mark": {"type": "line", "strokeDash": [3, 3], "color": INK, "opacity": 0.6},
                "encoding": {"x": x, "y": y},
            },
            {"mark": rule, "encoding": {"x": x, "y": {**y, "field": "ylow"}, "y2": {"field": "yhigh"}, "color": hue}},
            {"mark": rule, "encoding": {"x": {**x, "field": "xlow"}, "x2": {"field": "xhigh"}, "y": y, "color": hue}},
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": hue, "shape": shape},
            },
        ],
        "config": CONFIG,
    }


def domain_chart(result: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy in each domain, a point per model beside the others, with its 95% interval."""
    rows = [row for row in result["rows"] if row["measure"] == "accuracy"]
    names, tests = (list(dict.fromkeys(row[field] for row in rows)) for field in ("point", "test"))
    values = [{name: row[name] for name in ("point", "test", "value", "low", "high")} for row in rows]
    x = {"field": "test", "type": "nominal", "title": None, "scale": {"domain": tests}, "axis": {"labelAngle": 0}}
    beside = {"field": "point", "type": "nominal", "scale": {"domain": names}}
    y, (hue, shape) = _share("value", "accuracy"), _hue_and_shape(names)
    return {
        "width": {"step": max(10, min(28, 500 // (len(names) * len(tests))))},
        "height": 260,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 1.4},
                "encoding": {
                    "x": x, "xOffset": beside, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "xOffset": beside, "y": y, "color": hue, "shape": shape},
            },
        ],
        "config": CONFIG,
    }  # fmt: skip


def _curves(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], called: str) -> dict[str, Any]:
    names = list(dict.fromkeys(row["test"] for row in rows))
    values = [{name: row[name] for name in ("x", "test", "value", "low", "high")} for row in rows]
    ticks = sorted({row["x"] for row in rows})
    scale: dict[str, Any] = {"type": "log", "nice": False} if min(ticks) > 0 else {"type": "linear"}
    axis = {"values": ticks, "format": ",", "labelOverlap": "greedy"}
    x = {"field": "x", "type": "quantitative", "title": f"{result['axis']} (log scale)", "scale": scale, "axis": axis}
    y = _share("value", called) if called == "accuracy" else {
        "field": "value", "type": "quantitative", "title": called, "scale": {"zero": True, "nice": True},
        "axis": PERCENT,
    }  # fmt: skip
    hue = by_name("test", names, LEGEND)
    return {
        "width": 340,
        "height": 260,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.7},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": hue,
                    "strokeDash": dashes_by_name("test", names),
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": hue},
            },
        ],
        "config": CONFIG,
    }


def _hue_and_shape(names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colour and shape of a point by its model; colours come again after eight, in another shape."""
    hue = by_name("point", names, LEGEND)
    shapes = [POINT_SHAPES[place // len(COLOURS) % len(POINT_SHAPES)] for place in range(len(names))]
    return hue, {**hue, "scale": {"domain": list(names), "range": shapes}}


def _share(field: str, title: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"domain": [0, 1]},
            "axis": PERCENT}  # fmt: skip
