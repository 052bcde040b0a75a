"""iOcclusion: the gap that is left against the covered share (Marcu & Prügel-Bennett 2022, figures 5, 10 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from snellen.audits.iocclusion import IOcclusionFacts
from snellen.report.blocks import Block, Chart, FactLine, Heading, Line, Panels, Span, lead
from snellen.report.charts import CurvePanel, CurvePoint, curve_chart, quantitative
from snellen.report.results import Results
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
    charts = [Chart(panel.title, ratio_chart(panel, list(results.models), top)) for panel in panels]
    return [Heading("iOcclusion"), lead(EXPLAINED), FactLine((*results.keys(), *MARKS)), Panels(tuple(charts))]


def ratios_of(results: Results) -> list[CurvePanel]:
    """One panel per way of covering: iOcclusion against the covered share for each model, 1 at 0 by definition."""
    ways: dict[tuple[str, ...], dict[str, list[CurvePoint]]] = {}
    titles: dict[tuple[str, ...], str] = {}
    for finding in results.having(IOcclusionFacts):
        if is_known(finding.value):
            way = _without_share(finding.distortions[0], finding.facts.area)
            titles[way] = masked_by(finding.facts.masking, finding.facts.fill)
            points = ways.setdefault(way, {}).setdefault(finding.model, [CurvePoint(0.0, WHOLE, WHOLE, WHOLE)])
            mark = finding.interference.mark if finding.interference else ""
            points.append(CurvePoint(finding.facts.area, finding.value, finding.low, finding.high, mark))
    return [CurvePanel(titles[way], lines, WHOLE) for way, lines in ways.items()]


def highest_ratio(panels: Sequence[CurvePanel]) -> float:
    """Where the axis of all panels ends: above every value; intervals that reach far beyond are cut off."""
    points = [point for panel in panels for line in panel.lines.values() for point in line]
    top = max((point.value for point in points), default=WHOLE)
    ends = [point.high for point in points if is_known(point.high)]
    return 1.05 * min(2 * max(top, WHOLE), max([*ends, top, WHOLE]))


def ratio_chart(panel: CurvePanel, models: Sequence[str], top: float) -> dict[str, Any]:
    """iOcclusion against covered share, with a rule at 1; an interval ends at `top` at the latest."""
    lines = {
        model: [replace(point, high=min(point.high, top) if is_known(point.high) else top) for point in line]
        for model, line in panel.lines.items()
    }
    return curve_chart(
        replace(panel, lines=lines), models, quantitative("value", "iOcclusion", domain=[0, top], nice=False)
    )


def _without_share(distortion: str, share: float) -> tuple[str, ...]:
    """What is the same at every share: the distortion's text around it."""
    for name in ("area", "share"):
        before, setting, after = distortion.partition(f"{name}={share:g}")
        if setting:
            return before, after
    return (distortion,)
