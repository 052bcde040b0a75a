"""The page of a sweep: its heat map or curves, its gaps, one test against another, and the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Command,
    Details,
    Facts,
    Heading,
    Line,
    Page,
    Panels,
    Row,
    Table,
    bold,
    code,
    note,
)
from snellen.report.pages.sweep_charts import accuracy_chart, against_chart, domain_chart, gap_chart
from snellen.report.render import write_page
from snellen.report.words import count_of, interval, percent, spread

SweepResult = Mapping[str, Any]  # what sweep.json holds
_UNSEEN = (
    "The source is the domain that the models were trained on. In the mean of the unseen ones each domain weighs the same, "
    "however many images it has; its interval follows from theirs (Zou & Donner 2008). ± is the standard deviation over runs."
)


@dataclass(frozen=True)
class HeatMap:
    """Tests and gaps as columns, points as rows: for each point one row of the sweep's table per column."""

    head: tuple[str, ...]
    points: Mapping[str, Sequence[SweepResult]]


def write(result: SweepResult, path: Path) -> None:
    """Write the page of a sweep."""
    write_page(page_of(result), path)


def page_of(result: SweepResult) -> Page:
    """The page of what a sweep left."""
    heat_map = heat_map_of(result)
    charts = charts_of(result)
    blocks: list[Block] = [
        Facts(tuple(_facts(result, len(heat_map.points)))),
        *([Command(result["command"])] if result["command"] else []),
        Heading("Accuracies"),
        _table(result, heat_map),
        *([note(_UNSEEN)] if result.get("source") else []),
        note(
            "Mean over runs; small numbers in the table, and bars in the charts, are 95% intervals over images, for gaps paired "
            "by foreground. The same table, tidy and with one value per run, is in sweep.csv, sweep.parquet and sweep.json "
            "beside this page; all answers are in the run folders."
        ),
    ]
    if charts:
        blocks += [Heading("Charts"), Panels(tuple(charts))]
    blocks += [
        Heading("Models and data" if of_models(result) else "Data"),
        Bullets(tuple(_sources(result, heat_map))),
    ]
    if result["commands"]:
        blocks.append(Details("Each part by itself", (Command("\n".join(result["commands"])),)))
    return Page(result["title"], tuple(blocks))


def heat_map_of(result: SweepResult) -> HeatMap:
    """The rows of a sweep by point and column."""
    rows = result["rows"]
    columns = list(dict.fromkeys((row["test"], row["measure"]) for row in rows))
    names = list(dict.fromkeys(row["point"] for row in rows))
    place = {(row["point"], row["test"]): row for row in rows}
    heads = {"bg_gap": lambda test: "BG-gap", "gap": lambda test: test.replace("-", " − ")}
    head = tuple(heads.get(measure, str)(test) for test, measure in columns)
    return HeatMap(head, {name: [place[name, test] for test, _ in columns] for name in names})


def charts_of(result: SweepResult) -> list[Chart]:
    """Curves where there is an axis, and for each gap one test against the other."""
    charts = []
    if result["axis"]:
        charts.append(Chart(f"Accuracy against {result['axis']}", accuracy_chart(result)))
        if result["gaps"]:
            charts.append(Chart(f"Gaps against {result['axis']}", gap_chart(result)))
    if result.get("source"):
        charts.append(Chart("Accuracy by domain", domain_chart(result), wide=True))
    for first, second in result["gaps"]:
        charts.append(Chart(f"{second} against {first}", against_chart(result, first, second)))
    return charts


def of_models(result: SweepResult) -> bool:
    """Whether its points are models that were there, and nothing was trained."""
    return result["kind"] in ("methods", "domains")


def _facts(result: SweepResult, points: int) -> list[Line]:
    thing = "model" if of_models(result) else "training"
    facts: list[Line] = [
        (count_of(points, thing), "" if of_models(result) else f" of {count_of(result['runs'], 'run')}"),
        (count_of(len(result["tests"]), "test set"),),
    ]
    if recipe := result.get("recipe"):
        facts.append(
            (", ".join([recipe["arch"], *(recipe[name] for name in ("robust", "mix") if recipe[name] != "none")]),)
        )
    return [*facts, (result["created"][:10],), (f"snellen {result['snellen']}",)]


def cell_text(result: SweepResult, row: SweepResult) -> str:
    """A value in percent; between domains with its deviation over runs."""
    return percent(row["value"]) + (spread(row["std"], "share") if result.get("source") else "")


def _table(result: SweepResult, heat_map: HeatMap) -> Table:
    first, rows = "model" if of_models(result) else "trained on", []
    notes = [_note(result, row) for row in next(iter(heat_map.points.values()))]
    for name, cells in heat_map.points.items():
        about = cells[0]
        extent = f"{about['images']:,} images, {about['classes']} classes" if about["images"] else ""
        rows.append(Row(Cell(name, note=extent), tuple(_cell(result, one) for one in cells)))
    head = (Cell(first), *(Cell(name, note=note) for name, note in zip(heat_map.head, notes)))
    return Table(head, tuple(rows), dense=True)


def _note(result: SweepResult, row: SweepResult) -> str:
    """What a column is, where there are domains: the source or an unseen one, and how many images it has."""
    if not result.get("source"):
        return ""
    domain = {result["source"]: "source, "}.get(row["test"], "unseen, " if row["measure"] == "accuracy" else "")
    return domain + count_of(row["n"], "image")


def _cell(result: SweepResult, row: SweepResult) -> Cell:
    """Accuracies are coloured by their value, gaps by their size in another colour."""
    return Cell(
        cell_text(result, row),
        row["value"],
        interval(row["low"], row["high"], "share"),
        title=f"checks: {row['warnings']}" if row.get("warnings") else "",
        tone="" if row["measure"] in ("accuracy", "unseen_mean") else "warn",
        shade=0.0 if row["value"] is None else min(1.0, abs(row["value"])),
    )


def _sources(result: SweepResult, heat_map: HeatMap) -> list[Line]:
    before = "" if of_models(result) else "trained: "
    points: list[Line] = [
        (before, bold(name), " ", code(cells[0]["trained_on"])) for name, cells in heat_map.points.items()
    ]
    return [*points, *(("asked about: ", bold(name), " ", code(text)) for name, text in result["tests"].items())]
