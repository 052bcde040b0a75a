"""Charts of interference: the DI of every distortion, and along a setting, beside that of mild noise; errors by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.report.charts import (
    BAR,
    INK,
    WARN,
    by_name,
    chart,
    dashed_rule,
    dashes_by_name,
    filled_points,
    in_lines,
    interval_bars,
    layer,
    lines,
    nominal,
    nominal_in_lines,
    quantitative,
    rules_by_model,
    where,
)
from snellen.report.sections.interference_values import (
    ClassBars,
    IndexFinding,
    ModelIndices,
    SettingSweep,
    dominant_class,
    mark_of,
)
from snellen.report.words import in_words, is_known

LONGEST_NAME = 24


def highest(models: Sequence[ModelIndices]) -> float:
    """The upper end of an axis on which the models' charts can be compared."""
    return max((end for model in models for finding in model.every for end in _ends(finding)), default=1.0)


def _ends(finding: IndexFinding) -> list[float]:
    """What a bar has to reach: its value, its interval and its worst case, as far as they are known."""
    values = (finding.value, finding.high, finding.facts.worst_case)
    return [value for value in values if value is not None and is_known(value)]


def index_chart(model: ModelIndices, end: float) -> dict[str, Any]:
    """A bar per distortion with its interval and dominant class, a tick at its worst case, a rule at mild noise."""
    rows = [
        {
            "distortion": finding.distortions[0],
            "value": finding.value,
            "low": finding.low,
            "high": finding.high,
            "mark": mark_of(finding),
            "words": label,
            "worst": finding.facts.worst_case if model.runs > 1 else None,
            "said": _short(dominant_class(finding)),
            "tip": max(_ends(finding)),
        }
        for finding, label in zip(model.findings, _labels([in_words(each.distortions[0]) for each in model.findings]))
    ]
    y = nominal_in_lines("words", None, ticks=False, domain=False)
    x = quantitative("value", "DI index", domain=[0, 1.25 * end or 1.0])
    at = {"y": y, "x": x}
    flag = {"condition": {"test": "datum.mark === 'flagged'", "value": WARN}, "value": BAR}
    worst = {"y": y, "x": {**x, "field": "worst"}}
    words = {"y": y, "x": {**x, "field": "tip"}, "text": {"field": "said"}}
    layers = [
        layer("bar", {**at, "color": flag}, height={"band": 0.62}),
        where("isValid(datum.low)", interval_bars(at, "x", color=INK, strokeWidth=1.2)),
        where("isValid(datum.worst)", layer("tick", worst, color=INK, thickness=2, height=12)),
        layer("text", words, align="left", dx=6, color=INK, fontSize=11),
    ]
    if model.noise:
        layers.append(dashed_rule("x", model.noise.value, "noise", strokeDash=[4, 3], strokeWidth=1.4, opacity=0.8))
    return chart(300, {"step": 31}, rows, *layers)


def sweep_chart(sweep: SettingSweep, models: Sequence[str]) -> dict[str, Any]:
    """DI against the setting that varies: a line and an interval per model, its dominant class, its rule at mild noise."""
    points = [
        {
            "model": line.model,
            # named once along a line, where it ends or another class follows
            "said": "" if dominant_class(finding) == following else _short(dominant_class(finding), 12),
            "at": at,
            "value": finding.value,
            "low": finding.low,
            "high": finding.high,
            "mark": mark_of(finding),
        }
        for line in sweep.lines
        for (at, finding), following in zip(
            line.points, [*(dominant_class(after) for _, after in line.points[1:]), None]
        )
    ]
    places = sorted({at for line in sweep.lines for at, _ in line.points})
    axis = {"labelAngle": 0, "format": "~g"}
    x = {"field": "at", "type": "ordinal", "title": sweep.setting, "sort": places, "axis": axis}
    y = quantitative("value", "DI index", domainMin=0, nice=True)
    hued = {"x": x, "y": y, "color": by_name("model", models)}
    noises = {line.model: line.noise for line in sweep.lines if is_known(line.noise)}
    return chart(
        300,
        180,
        points,
        rules_by_model("noise", noises, models, (4, 3)),
        where("isValid(datum.low)", interval_bars(hued, strokeWidth=1.2, opacity=0.7)),
        lines({**hued, "strokeDash": dashes_by_name("model", models)}),
        filled_points(hued, 44),
        layer("text", {"x": x, "y": y, "text": {"field": "said"}}, align="left", dx=6, dy=-7, color=INK, fontSize=10),
    )


def bar_ends(charts: Sequence[ClassBars]) -> tuple[float, float]:
    """The least and the largest change in points over charts that are to be compared; 0 is always among them."""
    values = [100 * end for chart in charts for bar in chart.bars for end in (bar.low, bar.high)]
    values += [100 * chart.noise for chart in charts if chart.noise is not None]
    return min([0.0, *values]), max([0.0, *values])


def bar_chart(bars: ClassBars, ends: tuple[float, float]) -> dict[str, Any]:
    """Change in the share of wrong answers per predicted class, in points, the dominant class in another colour;
    a rule at the most that a class gains under mild noise."""
    names = _apart([_short(bar.name, LONGEST_NAME) for bar in bars.bars])
    rows = [
        {
            "class": name,
            "mean": 100 * bar.mean,
            "low": 100 * bar.low,
            "high": 100 * bar.high,
            "dominant": bars.interference is not None and bar.name == bars.interference.dominant,
        }
        for name, bar in zip(names, bars.bars)
    ]
    x = quantitative("mean", "change, points", {"tickCount": 4}, domain=list(ends), nice=True)
    at = {"y": nominal("class", None, ticks=False), "x": x}
    dominant = {"condition": {"test": "datum.dominant", "value": WARN}, "value": BAR}
    layers = [layer("bar", {**at, "color": dominant}, height={"band": 0.72})]
    if bars.runs > 1:
        layers.append(interval_bars(at, "x", color=INK, strokeWidth=1.2))
    if bars.noise is not None:
        layers.append(dashed_rule("x", 100 * bars.noise, "noise", strokeDash=[4, 3], opacity=0.7))
    return chart(180, {"step": 17}, rows, *layers)


def _labels(words: Sequence[str]) -> list[str]:
    """The words in lines short enough for an axis."""
    return _apart([in_lines(each) for each in words])


def _short(name: str, longest: int = 18) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _apart(labels: Sequence[str]) -> list[str]:
    """The labels of an axis; those that coincide stay apart by characters without width."""
    return [label + "\u200b" * labels[:place].count(label) for place, label in enumerate(labels)]
