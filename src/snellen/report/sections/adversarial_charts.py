"""Charts of adversarial backgrounds: who can be fooled by class, how strong backgrounds are, and totals by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.charts import CONFIG, INK, PERCENT, by_name


def shares_chart(rows: Sequence[Mapping[str, Any]], models: Sequence[str], title: str) -> dict[str, Any]:
    """A bar per model for each class; rows with `published` are rings beside them."""
    names = list(dict.fromkeys(row["class"] for row in rows))
    y = {"field": "class", "type": "nominal", "title": None, "sort": names, "axis": {"ticks": False, "labelLimit": 180}}
    x = {"field": "share", "type": "quantitative", "title": title, "scale": {"domain": [0, 1]}, "axis": PERCENT,
         "stack": None}  # fmt: skip
    offset = {"yOffset": {"field": "model", "sort": list(models)}} if len(models) > 1 else {}
    return {
        "width": 340,
        "height": {"step": 22 if len(models) == 1 else 11},
        "data": {"values": list(rows)},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.model)"}],
                "mark": {"type": "bar", "opacity": 0.85},
                "encoding": {"y": y, "x": x, **offset, "color": by_name("model", models)},
            },
            {
                "transform": [{"filter": "datum.published === true"}],
                "mark": {"type": "point", "filled": False, "stroke": INK, "size": 60, "strokeWidth": 1.4},
                "encoding": {"y": y, "x": x},
            },
        ],
        "config": CONFIG,
    }


def histogram_chart(rates: Sequence[Mapping[str, Any]], models: Sequence[str]) -> dict[str, Any]:
    """How many backgrounds have which attack rate (figure 24), on a logarithmic scale: most are harmless, few are not."""
    bins = [one for rate in rates for one in rate["histogram"]]
    rows = [{**one, "middle": (one["start"] + one["stop"]) / 2} for one in bins]
    x = {"field": "start", "bin": {"binned": True, "step": 0.05}, "type": "quantitative", "title": "attack rate of a background",
         "axis": PERCENT}  # fmt: skip
    y = {"field": "count", "type": "quantitative", "title": "backgrounds", "scale": {"type": "symlog"},
         "axis": {"values": [1, 10, 100, 1000, 10000], "format": "~s"}}  # fmt: skip
    offset = {"xOffset": {"field": "model", "sort": list(models)}} if len(models) > 1 else {}
    bars: dict[str, Any] = {
        "mark": {"type": "bar", "opacity": 0.85},
        "encoding": {"x": x, "x2": {"field": "stop"}, "y": y, "color": by_name("model", models)},
    }
    if offset:
        shown = {"field": "middle", "type": "ordinal", "title": "attack rate of a background (middle of 5 points)",
                 "axis": {"format": ".0%", "labelOverlap": True, "labelAngle": 0}}  # fmt: skip
        bars = {"mark": bars["mark"], "encoding": {"x": shown, "y": y, **offset, "color": by_name("model", models)}}
    return {"width": 420, "height": 220, "data": {"values": rows}, **bars, "config": CONFIG}
