"""iOcclusion: the gap that is left against the covered share (Marcu & Prügel-Bennett 2022, figures 5, 10 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.blocks import Block, Chart, Facts, Heading, Line, Panels, Span, lead
from snellen.report.charts import curve_chart
from snellen.report.results import Results
from snellen.report.table import trust_of
from snellen.report.words import is_known, masked_by

WHOLE = 1.0  # the gap as it is without covering
EXPLAINED = (
    "What covering does to the gap between training and test accuracy: at 1 (dashed) the gap is as it is without covering, "
    "at 0 it is closed, and what was memorised no longer helps. Higher is more robust. The band is the 95% interval, which "
    "far above the values is cut off: a small gap is an uncertain divisor. Ways of covering are to be compared between "
    "models, not with each other."
)
MARKS: tuple[Line, ...] = (
    ("● no mark",),
    ("△ DI above chance only",),
    (Span("▲ DI above chance and mild noise", "flag"),),
)


def iocclusion_blocks(results: Results) -> list[Block]:
    """iOcclusion against the covered share, a panel per way of covering; nothing where it was not measured."""
    panels = ratios_of(results)
    if not panels:
        return []
    top = highest_ratio(panels)
    charts = [Chart(panel["under"], ratio_chart(panel, list(results.models), top)) for panel in panels]
    return [Heading("iOcclusion"), lead(EXPLAINED), Facts((*results.keys(), *MARKS)), Panels(tuple(charts))]


def ratios_of(results: Results) -> list[dict[str, Any]]:
    """One panel per way of covering: iOcclusion against the covered share for each model, 1 at 0 by definition."""
    panels: dict[tuple[str, ...], dict[str, list[dict[str, Any]]]] = {}
    names: dict[tuple[str, ...], str] = {}
    for one in results.of_audit("occlusion"):
        if one["name"] != "iocclusion" or not is_known(one["value"]):
            continue
        facts = one["facts"]
        way = _without_share(one["distortions"][0], facts["area"])
        names[way] = masked_by(facts["masking"], facts["fill"])
        start = {"covered": 0.0, "value": WHOLE, "low": WHOLE, "high": WHOLE, "trust": None}
        point = {
            "covered": facts["area"],
            "trust": trust_of(one),
            **{key: one[key] for key in ("value", "low", "high")},
        }
        panels.setdefault(way, {}).setdefault(one["model"], [start]).append(point)
    return [
        {"under": names[way], "lines": [{"model": model, "points": points} for model, points in lines.items()]}
        for way, lines in panels.items()
    ]


def highest_ratio(panels: Sequence[Mapping[str, Any]]) -> float:
    """Where the axis of all panels ends: above every value; intervals that reach far beyond are cut off."""
    points = [point for panel in panels for line in panel["lines"] for point in line["points"]]
    top = max((point["value"] for point in points), default=WHOLE)
    ends = [point["high"] for point in points if is_known(point["high"])]
    return 1.05 * min(2 * max(top, WHOLE), max([*ends, top, WHOLE]))


def ratio_chart(panel: Mapping[str, Any], models: Sequence[str], top: float) -> dict[str, Any]:
    """iOcclusion against covered share, with a rule at 1; an interval ends at `top` at the latest."""
    lines = [
        {
            "model": line["model"],
            "points": [
                {**point, "high": min(point["high"], top) if is_known(point["high"]) else top}
                for point in line["points"]
            ],
        }
        for line in panel["lines"]
    ]
    y = {"title": "iOcclusion", "scale": {"domain": [0, top], "nice": False}, "axis": {"tickCount": 5}}
    return curve_chart({"lines": lines, "chance": WHOLE}, models, y)


def _without_share(distortion: str, share: float) -> tuple[str, ...]:
    """What is the same at every share: the distortion's text around it."""
    for name in ("area", "share"):
        before, setting, after = distortion.partition(f"{name}={share:g}")
        if setting:
            return before, after
    return (distortion,)
