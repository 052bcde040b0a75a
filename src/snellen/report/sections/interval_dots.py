"""The figure of audits that have a few numbers per model: a point with its interval for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from snellen.report.blocks import Chart
from snellen.report.charts import (
    PERCENT,
    beside,
    by_name,
    chart,
    dashed_rule,
    filled_points,
    in_lines,
    interval_bars,
    nominal_in_lines,
    quantitative,
    share,
    where,
)
from snellen.report.results import AnyFinding, Results
from snellen.report.words import is_known

STEP, ALONE = 18, 30  # pixels per model and question, of several models and of one


def interval_dots(
    title: str,
    questions: Mapping[str, Sequence[AnyFinding]],
    results: Results,
    axis: str,
    level: float | None = None,
    whole: bool = True,
) -> Chart | None:
    """A chart with a row for each question and a point for each model, on an axis of shares, or of points for differences; a
    dashed line at `level`, a share. The axis of shares goes to 100% or, not `whole`, as far as the intervals. None where no
    finding has a value."""
    unit = next((finding.unit for own in questions.values() for finding in own), "share")
    rows = [
        {"question": in_lines(words), "model": finding.model, **_numbers(finding)}
        for words, own in questions.items()
        for finding in own
        if is_known(finding.value)
    ]
    if not rows:
        return None
    models = [model for model in results.models if any(row["model"] == model for row in rows)]
    x, colours = _axis(unit, axis, whole), by_name("model", list(results.models))
    return Chart(title, _dots(rows, models, colours, x, 0.0 if unit == "difference" else level))


def _numbers(finding: AnyFinding) -> dict[str, float | None]:
    """A value with its interval, differences in points."""
    scale = 100 if finding.unit == "difference" else 1
    ends = {"value": finding.value, "low": finding.low, "high": finding.high}
    return {name: scale * end if is_known(end) else None for name, end in ends.items()}


def _axis(unit: Literal["share", "difference"] | str, title: str, whole: bool) -> dict[str, Any]:
    if unit == "difference":
        return quantitative("value", f"{title}, points")
    return share("value", title) if whole else quantitative("value", title, PERCENT, zero=True)


def _dots(
    rows: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    colours: dict[str, Any],
    x: dict[str, Any],
    level: float | None,
) -> dict[str, Any]:
    names = list(dict.fromkeys(row["question"] for row in rows))
    y = nominal_in_lines("question", names, ticks=False, domain=False, grid=True)
    at = {"y": y, "x": x, **beside("y", models), "color": colours}
    layers = [
        where("isValid(datum.low) && isValid(datum.high)", interval_bars(at, "x", strokeWidth=1.6)),
        filled_points(at, 60),
    ]
    if level is not None and is_known(level):
        layers.insert(0, dashed_rule("x", level))
    return chart(320, {"step": STEP if len(models) > 1 else ALONE}, rows, *layers)
