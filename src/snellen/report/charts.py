"""Charts: Vega-Lite as plain dictionaries, drawn to inline SVG whose colours are the page's own CSS variables.

Plain dictionaries because importing Altair costs half a second and the charts are few; the first chart of a process
takes about 0.6 s, each further one some 40 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5ad6", "#8c8c8c")
INK, GRID, CARD, WARN = "var(--ink, #222)", "var(--grid, #ddd)", "var(--card, #fff)", "var(--warn, #c2410c)"
LONGEST_NAME = 24

CONFIG: dict[str, Any] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID,
        "titleFontWeight": "normal", "labelFontSize": 11, "titleFontSize": 11,
    },
}  # fmt: skip


def colour(position: int) -> str:
    """The colour of a model by its place in the run: a CSS variable, with a fallback where the page has none."""
    place = position % len(COLOURS)
    return f"var(--c{place}, {COLOURS[place]})"


def dash(position: int) -> list[int]:
    """The line pattern: solid, then other dashes once the colours are used up."""
    return [[1, 0], [6, 3], [2, 2]][position // len(COLOURS) % 3]


def svg(spec: Mapping[str, Any]) -> str:
    """The chart as SVG text; data values inside are escaped by Vega."""
    import vl_convert

    return vl_convert.vegalite_to_svg(dict(spec), vl_version="5.20")


ACCURACY: dict[str, Any] = {
    "title": "accuracy", "scale": {"domain": [0, 1]}, "axis": {"format": "%", "tickCount": 5},
}  # fmt: skip


def curve_chart(panel: Mapping[str, Any], models: Sequence[str], axis: Mapping[str, Any] = ACCURACY) -> dict[str, Any]:
    """Accuracy against covered share: a line and an interval band per model, the chance line, marked points.

    `axis` is that of the values, where they are of another kind; `chance` is then what the dashed line marks.
    """
    points = [
        {
            "model": line["model"],
            "covered": point["covered"],
            "value": point["value"],
            "low": point["low"],
            "high": point["high"],
            "mark": point["trust"]["mark"] if point["trust"] else "",
        }
        for line in panel["lines"]
        for point in line["points"]
    ]
    hue = {"scale": {"domain": list(models), "range": [colour(i) for i in range(len(models))]}, "legend": None}
    x = {"field": "covered", "type": "quantitative", "title": "covered share of the image",
         "scale": {"domain": [0, 1]}, "axis": {"format": "%", "tickCount": 5}}  # fmt: skip
    y = {"field": "value", "type": "quantitative", **axis}
    by_model = {"color": {"field": "model", "type": "nominal", **hue}}
    shape = {"scale": {"domain": ["", "raised", "flagged"], "range": ["circle", "triangle-up", "triangle-up"]}}
    dashes = {"scale": {"domain": list(models), "range": [dash(i) for i in range(len(models))]}, "legend": None}
    return {
        "width": 340,
        "height": 240,
        "data": {"values": points},
        "layer": [
            {
                "data": {"values": [{"chance": panel["chance"]}]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": INK, "opacity": 0.6},
                "encoding": {"y": {"field": "chance", "type": "quantitative"}},
            },
            {
                "mark": {"type": "area", "opacity": 0.16},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **by_model},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, **by_model, "strokeDash": {"field": "model", "type": "nominal", **dashes}},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "y": y,
                    "stroke": by_model["color"],
                    "fill": {"condition": {"test": "datum.mark === 'raised'", "value": CARD}, **by_model["color"]},
                    "shape": {"field": "mark", "type": "nominal", "legend": None, **shape},
                    "size": {"condition": {"test": "datum.mark !== ''", "value": 90}, "value": 36},
                },
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
    names = _labels([bar["class"] for bar in chart["bars"]])
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
                "color": {"condition": {"test": "datum.dominant", "value": WARN}, "value": "var(--bar, #8aa0b8)"},
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


def _labels(names: Sequence[str]) -> list[str]:
    """Names short enough for an axis; those that coincide once cut stay apart by characters without width."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        labels.append(short + "\u200b" * seen.setdefault(short, 0))
        seen[short] += 1
    return labels
