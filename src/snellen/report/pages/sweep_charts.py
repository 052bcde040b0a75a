"""Charts of a sweep: Vega-Lite as plain dictionaries, in the colours of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import (
    COLOURS,
    INK,
    PERCENT,
    by_name,
    chart,
    dashes_by_name,
    diagonal,
    filled_points,
    interval_bars,
    lines,
    looks_by_name,
    quantitative,
    share,
)
from snellen.report.pages.sweep_result import SweepPage, SweepRow

POINT_SHAPES = ("circle", "square", "diamond")
LEGEND = {"labelColor": INK, "titleColor": INK, "title": None, "orient": "right", "labelLimit": 240}


def accuracy_chart(result: SweepPage) -> dict[str, Any]:
    """The accuracy on each test against the axis (a log scale), with its 95% interval."""
    return _curves(result, [row for row in result.rows if row.measure == "accuracy"], share("value", "accuracy"))


def gap_chart(result: SweepPage) -> dict[str, Any]:
    """Each gap against the axis, with its 95% interval; 0 is always there."""
    y = quantitative("value", "gap", PERCENT, zero=True, nice=True)
    return _curves(result, [row for row in result.rows if row.measure != "accuracy"], y)


def against_chart(result: SweepPage, first: str, second: str) -> dict[str, Any]:
    """The accuracy on the second test against that on the first, a point per model; on the diagonal there is no gap."""
    accuracies = {(row.point, row.test): row for row in result.rows if row.measure == "accuracy"}
    names = list(dict.fromkeys(point for point, _ in accuracies))
    values = []
    for name in names:
        across, up = accuracies[name, first], accuracies[name, second]
        ends = {"xvalue": across.value, "xlow": across.low, "xhigh": across.high}
        values.append({"point": name, **ends, "yvalue": up.value, "ylow": up.low, "yhigh": up.high})
    x, y = share("xvalue", f"accuracy on {first}"), share("yvalue", f"accuracy on {second}")
    hue, shape = _hue_and_shape(names)
    at = {"x": x, "y": y, "color": hue}
    return chart(
        340,
        340,
        values,
        diagonal(x, y),
        interval_bars(at, "y", ("ylow", "yhigh"), strokeWidth=1.4),
        interval_bars(at, "x", ("xlow", "xhigh"), strokeWidth=1.4),
        filled_points({**at, "shape": shape}, 60),
    )


def domain_chart(result: SweepPage) -> dict[str, Any]:
    """The accuracy in each domain, a point per model beside the others, with its 95% interval."""
    rows = [row for row in result.rows if row.measure == "accuracy"]
    names, tests = list(dict.fromkeys(row.point for row in rows)), list(dict.fromkeys(row.test for row in rows))
    values = [
        {"point": row.point, "test": row.test, "value": row.value, "low": row.low, "high": row.high} for row in rows
    ]
    x = {"field": "test", "type": "nominal", "title": None, "scale": {"domain": tests}, "axis": {"labelAngle": 0}}
    beside = {"field": "point", "type": "nominal", "scale": {"domain": names}}
    hue, shape = _hue_and_shape(names)
    at = {"x": x, "xOffset": beside, "y": share("value", "accuracy"), "color": hue}
    step = max(10, min(28, 500 // (len(names) * len(tests))))
    points = filled_points({**at, "shape": shape}, 60)
    return chart({"step": step}, 260, values, interval_bars(at, strokeWidth=1.4), points)


def _curves(result: SweepPage, rows: Sequence[SweepRow], y: Mapping[str, Any]) -> dict[str, Any]:
    names = list(dict.fromkeys(row.test for row in rows))
    values = [{"x": row.x, "test": row.test, "value": row.value, "low": row.low, "high": row.high} for row in rows]
    ticks = sorted({row.x for row in rows if row.x is not None})
    scale: dict[str, Any] = {"type": "log", "nice": False} if min(ticks) > 0 else {"type": "linear"}
    axis = {"values": ticks, "format": ",", "labelOverlap": "greedy"}
    x = quantitative("x", f"{result.axis} (log scale)", axis, **scale)
    at = {"x": x, "y": y, "color": by_name("test", names, LEGEND)}
    return chart(
        340,
        260,
        values,
        interval_bars(at, strokeWidth=1.4, opacity=0.7),
        lines({**at, "strokeDash": dashes_by_name("test", names)}),
        filled_points(at, 40),
    )


def _hue_and_shape(names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colour and shape of a point by its model; colours come again after eight, in another shape."""
    hue = by_name("point", names, LEGEND)
    shapes = [POINT_SHAPES[place // len(COLOURS) % len(POINT_SHAPES)] for place in range(len(names))]
    return hue, looks_by_name("point", names, shapes, LEGEND)
