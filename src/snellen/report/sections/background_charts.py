"""Charts of backgrounds: accuracy on the variants, categories stacked, box sizes and progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from snellen.measure import CATEGORIES
from snellen.report.charts import (
    BAR,
    INK,
    PERCENT,
    beside,
    by_name,
    chart,
    colour,
    dashed_rule,
    dashes_by_name,
    filled_points,
    interval_bars,
    layer,
    lines,
    looks_by_name,
    nominal,
    quantitative,
    rules_by_model,
    share,
    where,
)
from snellen.report.sections.background_values import ModelBackgrounds, ProgressLine
from snellen.report.words import VARIANTS, is_known

HUES = ("bar", "1", "4", "0", "5")  # of the categories, in their order


def variants_chart(backgrounds: Sequence[ModelBackgrounds], guessing: float) -> dict[str, Any]:
    """Accuracy on every variant: a bar per model with its interval, clean images first, a rule at the best guess."""
    models = [own.model for own in backgrounds]
    rows: list[dict[str, Any]] = []
    for own in backgrounds:
        low, high = own.original_ends
        rows.append({"model": own.model, "words": "clean", "value": own.original, "low": low, "high": high})
        rows += [
            {"model": own.model, "words": VARIANTS[variant.facts.kind],
             "value": variant.value, "low": variant.low, "high": variant.high}
            for variant in own.variants
        ]  # fmt: skip
    names = list(dict.fromkeys(row["words"] for row in rows))
    y = nominal("words", names, ticks=False, labelLimit=260)
    at = {"y": y, "x": share("value", "accuracy"), **beside("y", models)}
    return chart(
        420,
        {"step": 26 if len(models) == 1 else 15},
        rows,
        layer("bar", {**at, "color": by_name("model", models)}, opacity=0.85),
        where("isValid(datum.low)", interval_bars(at, "x", color=INK, strokeWidth=1.2)),
        dashed_rule("x", guessing, "chance"),
    )


def categories_chart(rows: Sequence[Mapping[str, Any]], by: str) -> dict[str, Any]:
    """Shares of the five categories, stacked (figure 7): a bar for each `by` (model or class) of the rows."""
    names = list(dict.fromkeys(row[by] for row in rows))
    order = {category: place for place, category in enumerate(CATEGORIES)}
    colours = [BAR if hue == "bar" else colour(int(hue)) for hue in HUES]
    bars = {
        "y": nominal(by, names, ticks=False),
        "x": {**share("share", "share of the images"), "stack": "zero"},
        "color": looks_by_name("category", list(CATEGORIES), colours),
        "order": {"field": "order"},
    }
    values = [{**row, "order": order[row["category"]]} for row in rows]
    whole = by == "model"
    return chart(420 if whole else 300, {"step": 30 if whole else 19}, values, layer("bar", bars))


def size_chart(backgrounds: Sequence[ModelBackgrounds]) -> dict[str, Any]:
    """Accuracy on backgrounds alone against the size of the removed object (figure 14), a dotted line at the mean."""
    models = [own.model for own in backgrounds]
    rows = [
        {
            "model": own.model,
            "size": (size.start + size.stop) / 2,
            "value": size.value,
            "low": size.low,
            "high": size.high,
        }
        for own in backgrounds
        for size in own.bins
    ]
    at = {
        "x": share("size", "share of the image that the object's box covered"),
        "y": share("value", "accuracy on background alone"),
        "color": by_name("model", models),
    }
    means = {own.model: mean for own in backgrounds if is_known(mean := own.size.facts.overall)}
    bars = interval_bars(at, strokeWidth=1.2, opacity=0.7)
    return chart(340, 220, rows, rules_by_model("mean", means, models, (2, 3)), bars, lines(at), filled_points(at, 30))


def progress_chart(progress: Sequence[ProgressLine], what: str) -> dict[str, Any]:
    """Each variant's accuracy, or each gap, against clean accuracy: a point per model and the fitted line (figure 8)."""
    chosen = [line for line in progress if line.finding.facts.what == what]
    names = [line.words for line in chosen]
    points = [
        {"words": line.words, **msgspec.structs.asdict(point)} for line in chosen for point in line.finding.facts.points
    ]
    clean = [point["clean"] for point in points if point["clean"] is not None]
    ends = [
        {"words": line.words, "clean": at, "value": line.height(at)}
        for line in chosen
        for at in (min(clean), max(clean))
    ]
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelColor": INK, "labelLimit": 260}
    axis = {**PERCENT, "format": ".0%"}
    title = "accuracy" if what == "accuracy" else "gap in accuracy"
    at = {
        "x": quantitative("clean", "clean accuracy", axis, zero=False, nice=True),
        "y": quantitative("value", title, axis, zero=True, nice=True),
        "color": by_name("words", names, legend),
    }
    dashes = {"strokeDash": dashes_by_name("words", names)}
    fitted = layer("line", {**at, **dashes}, ends, strokeWidth=1.6, opacity=0.8)
    return chart(360, 260, points, fitted, filled_points(at, 42))
