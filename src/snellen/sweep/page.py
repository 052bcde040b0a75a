"""The page of a sweep: its heat map or curves, its gaps, mixed_same against mixed_rand, and the commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.report.charts import svg
from snellen.sweep.charts import against_chart, curve_chart, gap_chart


def html_of(page: Mapping[str, Any]) -> str:
    """The page as one HTML file in the style of the report; every value is escaped."""
    import jinja2
    from markupsafe import Markup

    folder = Path(__file__).parent
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, folder.parent / "report"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("sweep.html").render(
        page=page,
        table=table_of(page),
        charts=[(title, Markup(svg(spec))) for title, spec in charts_of(page)],
        percent=percent,
        points=points,
        shade=shade,
    )


def table_of(page: Mapping[str, Any]) -> dict[str, Any]:
    """The heat map: tests and gaps as columns, points as rows, a row of the table in each place."""
    rows = page["rows"]
    columns = list(dict.fromkeys((row["test"], row["measure"]) for row in rows))
    names = list(dict.fromkeys(row["point"] for row in rows))
    place = {(row["point"], row["test"]): row for row in rows}
    head = ["BG-gap" if measure == "bg_gap" else test.replace("-", " − ") if measure == "gap" else test
            for test, measure in columns]  # fmt: skip
    body = [
        {"name": name, "about": place[name, columns[0][0]], "cells": [place[name, test] for test, _ in columns]}
        for name in names
    ]
    return {"head": head, "rows": body}


def charts_of(page: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The charts of a page by title: curves where there is an axis, and for each gap one test against the other."""
    found = []
    if page["axis"]:
        found.append((f"Accuracy against {page['axis']}", curve_chart(page)))
        if page["gaps"]:
            found.append((f"Gaps against {page['axis']}", gap_chart(page)))
    for first, second in page["gaps"]:
        found.append((f"{second} against {first}", against_chart(page, first, second)))
    return found


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; – for None."""
    return "–" if value is None else f"{100 * value:.1f} %".replace("-", "−")


def points(row: Mapping[str, Any]) -> str:
    """The interval of a row, in percent."""
    return "" if row["low"] is None else f"{100 * row['low']:.1f} … {100 * row['high']:.1f}".replace("-", "−")


def shade(row: Mapping[str, Any]) -> int:
    """How strongly a cell is coloured, 0 to 55 percent: accuracies by their value, gaps by their size."""
    return 0 if row["value"] is None else round(55 * min(1.0, abs(row["value"])))
