"""Charts of adversarial backgrounds: who can be fooled by class, how strong backgrounds are, and totals by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from snellen.audits.adversarial_backgrounds import AttackRateFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.charts import PERCENT, beside, by_name, chart, layer, nominal, quantitative, rings, share, where


def shares_chart(rows: Sequence[Mapping[str, Any]], models: Sequence[str], title: str) -> dict[str, Any]:
    """A bar per model for each class; rows with `published` are rings beside them."""
    names = list(dict.fromkeys(row["class"] for row in rows))
    y = nominal("class", names, ticks=False, labelLimit=180)
    x = {**share("share", title), "stack": None}
    bars = {"y": y, "x": x, **beside("y", models), "color": by_name("model", models)}
    return chart(
        340,
        {"step": 22 if len(models) == 1 else 11},
        rows,
        where("isValid(datum.model)", layer("bar", bars, opacity=0.85)),
        where("datum.published === true", rings({"y": y, "x": x})),
    )


def histogram_chart(rates: Sequence[StoredFinding[AttackRateFacts]], models: Sequence[str]) -> dict[str, Any]:
    """How many backgrounds have which attack rate (figure 24), on a logarithmic scale: most are harmless, few are not."""
    rows = [
        {"model": rate.model, **msgspec.structs.asdict(bin), "middle": (bin.start + bin.stop) / 2}
        for rate in rates
        for bin in rate.facts.histogram
    ]
    count = {"values": [1, 10, 100, 1000, 10000], "format": "~s"}
    bars = {"y": quantitative("count", "backgrounds", count, type="symlog"), "color": by_name("model", models)}
    if len(models) > 1:
        title = "attack rate of a background (middle of 5 points)"
        axis = {"format": ".0%", "labelOverlap": True, "labelAngle": 0}
        bars |= {"x": {"field": "middle", "type": "ordinal", "title": title, "axis": axis}, **beside("x", models)}
    else:
        x = quantitative("start", "attack rate of a background", PERCENT)
        bars |= {"x": {**x, "bin": {"binned": True, "step": 0.05}}, "x2": {"field": "stop"}}
    return chart(420, 220, rows, layer("bar", bars, opacity=0.85))
