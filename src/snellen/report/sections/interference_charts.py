"""Charts of interference: the DI of every distortion, and along a setting, beside that of mild noise; errors by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from snellen.report.charts import BAR, CONFIG, INK, WARN, by_name, dashes_by_name
from snellen.report.words import is_known

LONGEST_NAME = 24
LONGEST_LINE = 24  # of an axis label, in characters


def highest(models: Sequence[Mapping[str, Any]]) -> float:
    """The upper end of an axis on which the models' charts can be compared."""
    rows = [row for model in models for row in (*model["rows"], *([model["noise"]] if model["noise"] else []))]
    return max(
        (row[name] for row in rows for name in ("value", "high", "worst_case") if is_known(row[name])), default=1.0
    )


def index_chart(model: Mapping[str, Any], end: float) -> dict[str, Any]:
    """A bar per distortion with its interval and dominant class, a tick at its worst case, a rule at mild noise."""
    rows = [
        {
            **{name: row[name] for name in ("distortion", "value", "low", "high", "mark")},
            "words": label,
            "worst": row["worst_case"] if model["runs"] > 1 else None,
            "said": _short(row["dominant"]),
            "tip": max(row[name] for name in ("value", "high", "worst_case") if is_known(row[name])),
        }
        for row, label in zip(model["rows"], _labels([row["words"] for row in model["rows"]]))
    ]
    lifted = {
        "condition": {"test": r"indexof(datum.label, '\n') > 0", "value": -6},
        "value": 0,
    }  # two lines: to the middle
    y = {"field": "words", "type": "nominal", "title": None, "sort": None,
         "axis": {"ticks": False, "domain": False, "labelExpr": r"split(datum.label, '\n')", "labelOffset": lifted}}  # fmt: skip
    x = {"field": "value", "type": "quantitative", "title": "DI index",
         "scale": {"domain": [0, 1.25 * end or 1.0]}, "axis": {"tickCount": 5}}  # fmt: skip
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.62}},
            "encoding": {
                "y": y, "x": x, "color": {"condition": {"test": "datum.mark === 'flagged'", "value": WARN}, "value": BAR}
            },
        },
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2},
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "transform": [{"filter": "isValid(datum.worst)"}],
            "mark": {"type": "tick", "color": INK, "thickness": 2, "height": 12},
            "encoding": {"y": y, "x": {**x, "field": "worst"}},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "color": INK, "fontSize": 11},
            "encoding": {"y": y, "x": {**x, "field": "tip"}, "text": {"field": "said"}},
        },
    ]  # fmt: skip
    if model["noise"]:
        layers.append(_rule("x", [{"noise": model["noise"]["value"]}]))
    return {"width": 300, "height": {"step": 31}, "data": {"values": rows}, "layer": layers, "config": CONFIG}


def sweep_chart(sweep: Mapping[str, Any], models: Sequence[str]) -> dict[str, Any]:
    """DI against the setting that varies: a line and an interval per model, its dominant class, its rule at mild noise."""
    points = [
        {
            "model": line["model"],
            # named once along a line, where it ends or another class follows
            "said": "" if point["dominant"] == following else _short(point["dominant"], 12),
            **{name: point[name] for name in ("at", "value", "low", "high", "mark")},
        }
        for line in sweep["lines"]
        for point, following in zip(line["points"], [*(each["dominant"] for each in line["points"][1:]), None])
    ]
    by_model = {"color": by_name("model", models)}
    places = sorted({point["at"] for point in points})
    x = {"field": "at", "type": "ordinal", "title": sweep["setting"], "sort": places,
         "axis": {"labelAngle": 0, "format": "~g"}}  # fmt: skip
    y = {"field": "value", "type": "quantitative", "title": "DI index", "axis": {"tickCount": 5},
         "scale": {"domainMin": 0, "nice": True}}  # fmt: skip
    noises = [{"model": line["model"], "noise": line["noise"]} for line in sweep["lines"] if is_known(line["noise"])]
    return {
        "width": 300,
        "height": 180,
        "data": {"values": points},
        "layer": [
            _rule("y", noises, by_model),
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 1.2, "opacity": 0.7},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **by_model},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, **by_model, "strokeDash": dashes_by_name("model", models)},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 44},
                "encoding": {"x": x, "y": y, **by_model},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "dy": -7, "color": INK, "fontSize": 10},
                "encoding": {"x": x, "y": y, "text": {"field": "said"}},
            },
        ],
        "config": CONFIG,
    }


def bar_ends(charts: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The least and the largest change in points over charts that are to be compared; 0 is always among them."""
    values = [100 * bar[end] for chart in charts for bar in chart["bars"] for end in ("low", "high")]
    values += [100 * chart["noise"] for chart in charts if chart["noise"] is not None]
    return min([0.0, *values]), max([0.0, *values])


def bar_chart(chart: Mapping[str, Any], ends: tuple[float, float]) -> dict[str, Any]:
    """Change in the share of wrong answers per predicted class, in points, the dominant class in another colour;
    a rule at the most that a class gains under mild noise."""
    names = _short_names([bar["class"] for bar in chart["bars"]])
    rows = [
        {
            "class": name,
            "mean": 100 * bar["mean"],
            "low": 100 * bar["low"],
            "high": 100 * bar["high"],
            "dominant": bool(chart["trust"]) and bar["class"] == chart["trust"]["dominant"],
        }
        for name, bar in zip(names, chart["bars"])
    ]
    y = {"field": "class", "type": "nominal", "title": None, "sort": None, "axis": {"ticks": False}}
    x = {"field": "mean", "type": "quantitative", "title": "change, points",
         "scale": {"domain": list(ends), "nice": True}, "axis": {"tickCount": 4}}  # fmt: skip
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.72}},
            "encoding": {
                "y": y,
                "x": x,
                "color": {"condition": {"test": "datum.dominant", "value": WARN}, "value": BAR},
            },
        }
    ]
    if chart["runs"] > 1:
        layers.append(
            {
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            }
        )
    if chart["noise"] is not None:
        layers.append(
            {
                "data": {"values": [{"noise": 100 * chart["noise"]}]},
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": INK, "opacity": 0.7},
                "encoding": {"x": {**x, "field": "noise"}},
            }
        )
    return {"width": 180, "height": {"step": 17}, "data": {"values": rows}, "layer": layers, "config": CONFIG}


def _rule(axis: str, noises: Sequence[Mapping[str, Any]], more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The dashed line at the DI of mild noise."""
    mark = {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.4, "opacity": 0.8}
    return {
        "data": {"values": list(noises)},
        "mark": mark if more else {**mark, "color": INK},
        "encoding": {axis: {"field": "noise", "type": "quantitative"}, **(more or {})},
    }


def _labels(words: Sequence[str]) -> list[str]:
    """The words in lines short enough for an axis; the same words twice stay apart by characters without width."""
    lines = [fill(each.replace(" %", "\u00a0%"), LONGEST_LINE) for each in words]
    return [each + "\u200b" * lines[:place].count(each) for place, each in enumerate(lines)]


def _short(name: str, longest: int = 18) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _short_names(names: Sequence[str]) -> list[str]:
    """Names short enough for an axis; those that coincide once cut stay apart by characters without width."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        labels.append(short + "\u200b" * seen.setdefault(short, 0))
        seen[short] += 1
    return labels
