"""The charts of a page as files of their own, SVG or PNG, with their colours in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args

from snellen.atomic import check_place, write_atomic
from snellen.errors import UserError, unknown
from snellen.report.blocks import NAMES, Chapter, Chart, Page
from snellen.report.charts import svg

FigureFormat = Literal["svg", "png"]
SCALE = 3.0  # pixels of a PNG per unit of the chart
PAPER = "#ffffff"
VARIABLE = re.compile(r"var\(--[\w-]+, *([^()]+)\)")


def write_figures(page: Page, folder: Path, kind: str = "svg") -> list[Path]:
    """Write every chart of a page into a folder, named by its chapter and title, and give their paths."""
    if kind not in get_args(FigureFormat):
        raise unknown("figure format", kind, list(get_args(FigureFormat)))
    check_place(folder)
    paths: list[Path] = []
    for place, (chapter, chart) in enumerate(charts_of(page), 1):
        path = folder / f"{place:02d}-{_slug(chapter, chart.title)}.{kind}"
        write_atomic(path, figure(chart, kind))
        paths.append(path)
    if not paths:
        raise UserError(f"no chart to write into '{folder}': this run has only tables; see its report")
    return paths


def figure(chart: Chart, kind: str = "svg") -> bytes:
    """One chart as the bytes of a file; its colours are those of the light page."""
    text = drawing(chart, title=chart.title)
    if kind == "svg":
        return text.encode()
    import vl_convert

    return bytes(vl_convert.svg_to_png(text, scale=SCALE))


def drawing(chart: Chart, title: str = "") -> str:
    """One chart as SVG that needs no page around it: on paper, with its colours and, of several models, a legend in it."""
    spec = {**_with_legend(chart.spec), "config": {**chart.spec.get("config", {}), "background": PAPER}, "padding": 8}
    if title:
        spec["title"] = {"text": title, "anchor": "start", "fontSize": 13}
    return VARIABLE.sub(r"\1", svg(spec))


def _with_legend(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The chart with the names of its models, which stand above it on the page, in a legend; once."""
    legends = 0

    def labelled(value: Any) -> Any:
        nonlocal legends
        if isinstance(value, Mapping):
            inside = {name: labelled(part) for name, part in value.items()}
            several = (
                len(value.get("scale", {}).get("domain", ())) > 1 if isinstance(value.get("scale"), Mapping) else False
            )
            if value.get("field") == "model" and several and not legends:
                legends += 1
                return {**inside, "legend": {"title": None, "orient": "right"}}
            return inside
        return [labelled(part) for part in value] if isinstance(value, list | tuple) else value

    return {name: labelled(part) for name, part in spec.items()}


def charts_of(page: Page) -> list[tuple[str, Chart]]:
    """Every chart of a page that has something drawn, with the title of its chapter."""
    return [pair for block in page.blocks for pair in _charts(block, "")]


def _charts(value: Any, chapter: str) -> Iterator[tuple[str, Chart]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        for inside in value:
            yield from _charts(inside, chapter)
    elif type(value) in NAMES:
        if isinstance(value, Chart) and value.spec:
            yield chapter, value
        chapter = value.title if isinstance(value, Chapter) else chapter
        for declared in fields(value):
            if not declared.metadata.get("plain"):
                yield from _charts(getattr(value, declared.name), chapter)


def _slug(*words: str) -> str:
    """Words as a part of a file's name."""
    plain = re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")
    return plain[:80].rstrip("-")
