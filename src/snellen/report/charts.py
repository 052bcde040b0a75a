"""Charts: Vega-Lite as plain dictionaries, drawn to inline SVG whose colours are the page's own CSS variables.

Plain dictionaries because importing Altair costs half a second and the charts are few; the first chart of a process
takes about 0.6 s, each further one some 40 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5ad6", "#8c8c8c")
INK, GRID, CARD, WARN = "var(--ink, #222)", "var(--grid, #ddd)", "var(--card, #fff)", "var(--warn, #c2410c)"
BAR = "var(--bar, #8aa0b8)"
PERCENT = {"format": "%", "tickCount": 5}

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


def by_name(field: str, names: Sequence[str], legend: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The colour of each name by its place."""
    scale = {"domain": list(names), "range": [colour(place) for place in range(len(names))]}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def dashes_by_name(field: str, names: Sequence[str]) -> dict[str, Any]:
    """The line pattern of each name by its place."""
    scale = {"domain": list(names), "range": [dash(place) for place in range(len(names))]}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


ACCURACY: dict[str, Any] = {"title": "accuracy", "scale": {"domain": [0, 1]}, "axis": PERCENT}


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
    x = {"field": "covered", "type": "quantitative", "title": "covered share of the image",
         "scale": {"domain": [0, 1]}, "axis": PERCENT}  # fmt: skip
    y = {"field": "value", "type": "quantitative", **axis}
    hue = by_name("model", models)
    shape = {
        "scale": {
            "domain": ["", "unclear", "raised", "flagged"],
            "range": ["circle", "circle", "triangle-up", "triangle-up"],
        }
    }
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
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": hue, "strokeDash": dashes_by_name("model", models)},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "y": y,
                    "stroke": hue,
                    "fill": {"condition": {"test": "datum.mark === 'raised'", "value": CARD}, **hue},
                    "shape": {"field": "mark", "type": "nominal", "legend": None, **shape},
                    "size": {"condition": {"test": "datum.mark !== ''", "value": 90}, "value": 36},
                },
            },
        ],
        "config": CONFIG,
    }
