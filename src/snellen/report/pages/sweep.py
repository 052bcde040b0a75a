"""The page of a sweep: its heat map or curves, its gaps, one test against another, and the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snellen.report.blocks import (
    Block,
    Bullets,
    Chart,
    Command,
    Details,
    FactLine,
    Heading,
    Line,
    Page,
    Panels,
    Row,
    Table,
    TableCell,
    bold,
    code,
    note,
)
from snellen.report.pages.sweep_charts import accuracy_chart, against_chart, domain_chart, gap_chart
from snellen.report.pages.sweep_result import SweepPage, SweepRow
from snellen.report.render import write_page
from snellen.report.words import count_of, interval, percent, spread

_UNSEEN = (
    "The source is the domain that the models were trained on. In the mean of the unseen ones each domain weighs the same, "
    "however many images it has; its interval follows from theirs (Zou & Donner 2008). ± is the standard deviation over runs."
)


@dataclass(frozen=True)
class HeatMap:
    """Tests and gaps as columns, points as rows: for each point one row of the sweep's table per column."""

    head: tuple[str, ...]
    points: Mapping[str, Sequence[SweepRow]]


def write(result: SweepPage, path: Path) -> None:
    """Write the page of a sweep."""
    write_page(page_of(result), path)


def page_of(result: SweepPage) -> Page:
    """The page of what a sweep left."""
    heat_map = heat_map_of(result)
    charts = charts_of(result)
    blocks: list[Block] = [
        FactLine(tuple(_facts(result, len(heat_map.points)))),
        *([Command(result.command)] if result.command else []),
        Heading("Accuracies"),
        _table(result, heat_map),
        *([note(_UNSEEN)] if result.source else []),
        note(
            "Mean over runs; small numbers in the table, and bars in the charts, are 95% intervals over images, for gaps paired "
            "by foreground. The same table, tidy and with one value per run, is in sweep.csv, sweep.parquet and sweep.json "
            "beside this page; all answers are in the run folders."
        ),
    ]
    if charts:
        blocks += [Heading("Charts"), Panels(tuple(charts))]
    blocks += [
        Heading("Models and data" if result.of_models else "Data"),
        Bullets(tuple(_sources(result, heat_map))),
    ]
    if result.commands:
        blocks.append(Details("Each part by itself", (Command("\n".join(result.commands)),)))
    return Page(result.title, tuple(blocks))


def heat_map_of(result: SweepPage) -> HeatMap:
    """The rows of a sweep by point and column."""
    columns = {row.test: row.measure for row in result.rows}
    names = list(dict.fromkeys(row.point for row in result.rows))
    place = {(row.point, row.test): row for row in result.rows}
    gaps = {f"{first}-{second}": f"{first} − {second}" for first, second in result.gaps}
    head = tuple("BG-gap" if measure == "bg_gap" else gaps.get(test, test) for test, measure in columns.items())
    return HeatMap(head, {name: [place[name, test] for test in columns] for name in names})


def charts_of(result: SweepPage) -> list[Chart]:
    """Curves where there is an axis, and for each gap one test against the other."""
    charts = []
    if result.axis:
        charts.append(Chart(f"Accuracy against {result.axis}", accuracy_chart(result)))
        if result.gaps:
            charts.append(Chart(f"Gaps against {result.axis}", gap_chart(result)))
    if result.source:
        charts.append(Chart("Accuracy by domain", domain_chart(result), wide=True))
    for first, second in result.gaps:
        charts.append(Chart(f"{second} against {first}", against_chart(result, first, second)))
    return charts


def _facts(result: SweepPage, points: int) -> list[Line]:
    thing = "model" if result.of_models else "training"
    facts: list[Line] = [
        (count_of(points, thing), "" if result.of_models else f" of {count_of(result.runs, 'run')}"),
        (count_of(len(result.tests), "test set"),),
    ]
    if recipe := result.trained:
        facts.append((", ".join([recipe.arch, *(way for way in (recipe.robust, recipe.mix) if way != "none")]),))
    return [*facts, (result.created[:10],), (f"snellen {result.snellen}",)]


def cell_text(result: SweepPage, row: SweepRow) -> str:
    """A value in percent; between domains with its deviation over runs."""
    return percent(row.value) + (spread(row.std, "share") if result.source else "")


def _table(result: SweepPage, heat_map: HeatMap) -> Table:
    first, rows = "model" if result.of_models else "trained on", []
    notes = [_note(result, row) for row in next(iter(heat_map.points.values()))]
    for name, cells in heat_map.points.items():
        about = cells[0]
        extent = f"{about.images:,} images, {about.classes} classes" if about.images else ""
        rows.append(Row(TableCell(name, note=extent), tuple(_cell(result, row) for row in cells)))
    head = (TableCell(first), *(TableCell(name, note=note) for name, note in zip(heat_map.head, notes)))
    return Table(head, tuple(rows), dense=True)


def _note(result: SweepPage, row: SweepRow) -> str:
    """What a column is, where there are domains: the source or an unseen one, and how many images it has."""
    if not result.source:
        return ""
    unseen = "unseen, " if row.measure == "accuracy" else ""
    return ("source, " if row.test == result.source else unseen) + count_of(row.n, "image")


def _cell(result: SweepPage, row: SweepRow) -> TableCell:
    """Accuracies are coloured by their value, gaps by their size in another colour."""
    return TableCell(
        cell_text(result, row),
        row.value,
        interval(row.low, row.high, "share"),
        title=f"checks: {row.warnings}" if row.warnings else "",
        tone="" if row.measure in ("accuracy", "unseen_mean") else "warn",
        shade=0.0 if row.value is None else min(1.0, abs(row.value)),
    )


def _sources(result: SweepPage, heat_map: HeatMap) -> list[Line]:
    before = "" if result.of_models else "trained: "
    points: list[Line] = [
        (before, bold(name), " ", code(cells[0].trained_on)) for name, cells in heat_map.points.items()
    ]
    return [*points, *(("asked about: ", bold(name), " ", code(text)) for name, text in result.tests.items())]
