"""Charts of backgrounds: accuracy on the variants, categories stacked, box sizes, progress, and published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.measure import CATEGORIES
from snellen.report.charts import BAR, CONFIG, GRID, INK, PERCENT, by_name, colour, dashes_by_name
from snellen.report.words import is_known

HUES = ("bar", "1", "4", "0", "5")  # of the categories, in their order
Model = Mapping[str, Any]


def variants_chart(values: Sequence[Model], chance: float) -> dict[str, Any]:
    """Accuracy on every variant: a bar per model with its interval, clean images first, a rule at chance."""
    models = [one["model"] for one in values]
    rows = []
    for one in values:
        rows.append({"model": one["model"], "words": "clean", "value": one["original"], "low": None, "high": None})
        rows += [
            {"model": one["model"], **{key: row[key] for key in ("words", "value", "low", "high")}}
            for row in one["variants"]
        ]
    names = list(dict.fromkeys(row["words"] for row in rows))
    y = {"field": "words", "type": "nominal", "title": None, "sort": names, "axis": {"ticks": False, "labelLimit": 260}}
    x = {"field": "value", "type": "quantitative", "title": "accuracy", "scale": {"domain": [0, 1]}, "axis": PERCENT}
    offset = {"yOffset": {"field": "model", "sort": models}} if len(models) > 1 else {}
    return {
        "width": 420,
        "height": {"step": 26 if len(models) == 1 else 15},
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "opacity": 0.85},
                "encoding": {"y": y, "x": x, **offset, "color": by_name("model", models)},
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, **offset},
            },
            {
                "data": {"values": [{"chance": chance}]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": INK, "opacity": 0.6},
                "encoding": {"x": {"field": "chance", "type": "quantitative"}},
            },
        ],
        "config": CONFIG,
    }


def categories_chart(rows: Sequence[Mapping[str, Any]], by: str) -> dict[str, Any]:
    """Shares of the five categories, stacked (figure 7): a bar for each `by` (model or class) of the rows."""
    names = list(dict.fromkeys(row[by] for row in rows))
    order = {category: place for place, category in enumerate(CATEGORIES)}
    colours = [BAR if hue == "bar" else colour(int(hue)) for hue in HUES]
    return {
        "width": 420 if by == "model" else 300,
        "height": {"step": 30 if by == "model" else 19},
        "data": {"values": [{**row, "order": order[row["category"]]} for row in rows]},
        "mark": {"type": "bar"},
        "encoding": {
            "y": {"field": by, "type": "nominal", "title": None, "sort": names, "axis": {"ticks": False}},
            "x": {"field": "share", "type": "quantitative", "title": "share of the images", "stack": "zero",
                  "scale": {"domain": [0, 1]}, "axis": PERCENT},
            "color": {"field": "category", "type": "nominal", "legend": None,
                      "scale": {"domain": list(CATEGORIES), "range": colours}},
            "order": {"field": "order"},
        },
        "config": CONFIG,
    }  # fmt: skip


def size_chart(values: Sequence[Model]) -> dict[str, Any]:
    """Accuracy on backgrounds alone against the size of the removed object (figure 14), a dotted line at the mean."""
    models = [one["model"] for one in values]
    rows = [
        {
            "model": one["model"],
            "size": (row["start"] + row["stop"]) / 2,
            **{k: row[k] for k in ("value", "low", "high")},
        }
        for one in values
        for row in one["bins"]
    ]
    x = {"field": "size", "type": "quantitative", "title": "share of the image that the object's box covered",
         "scale": {"domain": [0, 1]}, "axis": PERCENT}  # fmt: skip
    y = {"field": "value", "type": "quantitative", "title": "accuracy on background alone", "scale": {"domain": [0, 1]},
         "axis": PERCENT}  # fmt: skip
    by_model = {"color": by_name("model", models)}
    means = [{"model": one["model"], "mean": one["overall"]} for one in values if is_known(one["overall"])]
    return {
        "width": 340,
        "height": 220,
        "data": {"values": rows},
        "layer": [
            {
                "data": {"values": means},
                "mark": {"type": "rule", "strokeDash": [2, 3], "strokeWidth": 1.4, "opacity": 0.8},
                "encoding": {"y": {"field": "mean", "type": "quantitative"}, **by_model},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.2, "opacity": 0.7},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **by_model},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, **by_model}},
            {"mark": {"type": "point", "filled": True, "opacity": 1}, "encoding": {"x": x, "y": y, **by_model}},
        ],
        "config": CONFIG,
    }


def progress_chart(lines: Sequence[Mapping[str, Any]], what: str) -> dict[str, Any]:
    """Each variant's accuracy, or each gap, against clean accuracy: a point per model and the fitted line (figure 8)."""
    chosen = [line for line in lines if line["what"] == what]
    names = [line["words"] for line in chosen]
    points = [{"words": line["words"], **point} for line in chosen for point in line["points"]]
    clean = [point["clean"] for point in points]
    ends = [
        {"words": line["words"], "clean": at, "value": line["intercept"] + line["value"] * at}
        for line in chosen
        for at in (min(clean), max(clean))
    ]
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelColor": INK, "labelLimit": 260}
    hue = {"color": by_name("words", names, legend)}
    x = {"field": "clean", "type": "quantitative", "title": "clean accuracy", "axis": {**PERCENT, "format": ".0%"},
         "scale": {"zero": False, "nice": True}}  # fmt: skip
    title = "accuracy" if what == "accuracy" else "gap in accuracy"
    y = {"field": "value", "type": "quantitative", "title": title, "axis": {**PERCENT, "format": ".0%"},
         "scale": {"zero": True, "nice": True}}  # fmt: skip
    return {
        "width": 360,
        "height": 260,
        "layer": [
            {
                "data": {"values": ends},
                "mark": {"type": "line", "strokeWidth": 1.6, "opacity": 0.8},
                "encoding": {"x": x, "y": y, **hue, "strokeDash": dashes_by_name("words", names)},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 42},
                "encoding": {"x": x, "y": y, **hue},
            },
        ],
        "config": CONFIG,
    }


def published_chart(values: Sequence[Mapping[str, Any]], models: Sequence[str]) -> dict[str, Any]:
    """BG-Gaps in points, published ones as rings, those of this run as filled points in their models' colours."""
    names = [f"{row['name'].replace(' trained on', ',')} ({row['source']})" for row in values]
    rows = [
        {"label": name, "gap": row["bg_gap"], "model": row["name"] if row["own"] else ""}
        for name, row in zip(names, values)
    ]
    y = {"field": "label", "type": "nominal", "title": None, "sort": names,
         "axis": {"ticks": False, "grid": True, "gridColor": GRID, "labelLimit": 330}}  # fmt: skip
    x = {"field": "gap", "type": "quantitative", "title": "BG-Gap, points (less is better)", "axis": {"tickCount": 6}}
    return {
        "width": 360,
        "padding": {"left": 36, "top": 5, "right": 5, "bottom": 5},  # browsers' letters are wider than those measured
        "height": {"step": 20},
        "data": {"values": rows},
        "layer": [
            {
                "transform": [{"filter": "datum.model === ''"}],
                "mark": {"type": "point", "filled": False, "stroke": INK, "size": 60, "strokeWidth": 1.4},
                "encoding": {"x": x, "y": y},
            },
            {
                "transform": [{"filter": "datum.model !== ''"}],
                "mark": {"type": "point", "filled": True, "size": 130, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": by_name("model", models)},
            },
        ],
        "config": CONFIG,
    }
