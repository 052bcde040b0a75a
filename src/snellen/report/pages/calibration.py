"""The page of a calibration: what was planted in the phantom world against what the audits measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.report.blocks import (
    Block,
    Cell,
    Chart,
    Command,
    Details,
    Facts,
    Heading,
    Page,
    Panels,
    Prose,
    Row,
    Span,
    Table,
    bold,
    code,
    heads,
    note,
    prose,
)
from snellen.report.charts import CONFIG, INK, colour
from snellen.report.render import write_page
from snellen.report.words import UNKNOWN

CalibrationResult = Mapping[str, Any]  # what calibration.json holds
HEAD = ("ladder", "planted", "finding", "rank", "slope, 95%", "true slope", "furthest; rungs inside", "")
VERDICTS = {True: "follows", False: "does not follow"}


def write(result: CalibrationResult, folder: Path) -> None:
    """Write calibration.html, and calibration.md in brief."""
    write_page(page_of(result), folder / "calibration.html")
    write_page(brief_page_of(result), folder / "calibration.md")


def page_of(result: CalibrationResult) -> Page:
    """The whole page: the table of ladders, and a chart with its numbers for each."""
    follow = sum(one["follows"] for one in result["ladders"])
    return Page(
        result["title"],
        (
            Facts(
                (
                    (bold(f"{follow} of {len(result['ladders'])}"), " ladders follow what was planted"),
                    (result["created"][:10],),
                    (f"snellen {result['snellen']}",),
                )
            ),
            Command(result["command"]),
            prose(
                "In the phantom world what a model relies on can be planted: by an observer that answers as it is built to, or "
                "by a dial of the world that a network learns from. Each ladder plants more of one thing from rung to rung and "
                "reads the finding that should see it."
            ),
            _overview(result),
            note(
                "Rank is Spearman’s correlation of planted and measured, 1 or −1 where the finding moves with every rung; a "
                "ladder follows from 0.9 on in the right direction, and one that should stay flat where one level lies in the "
                "interval of every rung. The slope is a least-squares fit, its interval follows from those of the rungs. Where "
                "the truth is known exactly, the table gives its slope, the largest distance of a rung from it and the number "
                "of rungs whose 95% interval holds it. About one in twenty should not; rungs share their images, so misses "
                "come together."
            ),
            Facts(((Span("measured, with its 95% interval", hue="0"),), ("┅ the truth, where it is known",))),
            Panels(tuple(map(_panel, result["ladders"])), "even"),
            Prose(
                (
                    f"Made by snellen {result['snellen']}. The same for machines: calibration.json; every answer is in the run "
                    "folders under runs.",
                ),
                "foot",
            ),
        ),
    )


def brief_page_of(result: CalibrationResult) -> Page:
    """The page in brief, for Markdown: the table, what each ladder says and its numbers."""
    blocks: list[Block] = [
        Facts(((result["created"][:10],), (f"snellen {result['snellen']}",), (code(result["command"]),))),
        _overview(result),
    ]
    for one in result["ladders"]:
        blocks += [Heading(one["title"], code=one["name"]), prose(one["says"]), _numbers(one["points"])]
    return Page(result["title"], tuple(blocks))


def rows_of(result: CalibrationResult) -> list[tuple[str, ...]]:
    """The table of all ladders as texts."""
    return [
        (
            one["name"],
            one["planted"],
            one["measured"],
            number(one["spearman"]),
            _slope(one),
            number(one["truth_slope"]),
            _truth(one),
            VERDICTS[one["follows"]],
        )
        for one in result["ladders"]
    ]


def number(value: float | None) -> str:
    """A number with three decimals and a real minus sign; a dash for None."""
    return UNKNOWN if value is None else f"{value:.3f}".replace("-", "−")


def _slope(ladder: CalibrationResult) -> str:
    """The slope with its interval."""
    value, low, high = (number(ladder["slope"][name]) for name in ("value", "low", "high"))
    return value if ladder["slope"]["low"] is None else f"{value} [{low}, {high}]"


def _truth(ladder: CalibrationResult) -> str:
    """How far the truth was missed, and how many rungs hold it in their interval; a dash where it is not known."""
    if ladder["worst"] is None:
        return UNKNOWN
    return f"{number(ladder['worst'])}; {ladder['inside']} of {len(ladder['points'])}"


def _overview(result: CalibrationResult) -> Table:
    rows = []
    for ladder, (name, planted, finding, *texts, verdict) in zip(result["ladders"], rows_of(result)):
        values = (ladder["spearman"], ladder["slope"]["value"], ladder["truth_slope"], ladder["worst"])
        mark = Cell(f"✓ {verdict}", tone="good") if ladder["follows"] else Cell(f"✗ {verdict}", tone="bad")
        rows.append(Row(Cell(name), (Cell(planted), Cell(finding), *map(Cell, texts, values), mark)))
    return Table(heads(*HEAD), tuple(rows), dense=True)


def _panel(ladder: CalibrationResult) -> Chart:
    last = ladder["points"][-1]
    question = note("asked: ", code(last["model"]), " about ", code(last["data"]), " with ", code(ladder["audits"]))
    return Chart(
        ladder["title"],
        chart_of(ladder),
        ((code(ladder["name"]),), (ladder["says"],)),
        below=(Details("The numbers", (_numbers(ladder["points"]), question)),),
    )


def _numbers(points: Sequence[CalibrationResult]) -> Table:
    rows = [
        Row(
            Cell(f"{point['x']:g}"),
            (
                Cell(number(point["value"]), point["value"]),
                Cell(f"{number(point['low'])} … {number(point['high'])}"),
                Cell(number(point["truth"]), point["truth"]),
            ),
        )
        for point in points
    ]
    return Table(heads("planted", "measured", "95%", "truth"), tuple(rows), dense=True)


def chart_of(ladder: CalibrationResult) -> dict[str, Any]:
    """Measured against planted: points with their intervals, joined; the truth, where known, as a dashed line."""
    values = [point for point in ladder["points"] if point["value"] is not None]
    x = {"field": "x", "type": "quantitative", "title": ladder["planted"], "axis": {"tickCount": 5}}
    y = {"field": "value", "type": "quantitative", "title": ladder["measured"],
         "scale": {"zero": True, "nice": True}, "axis": {"tickCount": 5}}  # fmt: skip
    line = {"mark": {"type": "line", "strokeWidth": 2, "color": colour(0)}, "encoding": {"x": x, "y": y}}
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": colour(0), "strokeWidth": 1.5}, "encoding": ends},
        line,
        {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 1, "color": colour(0)}, "encoding": line["encoding"]},
    ]  # fmt: skip
    if all(point["truth"] is not None for point in values):
        dashed = {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.6, "color": INK, "opacity": 0.75}
        layers.append({"mark": dashed, "encoding": {"x": x, "y": {**y, "field": "truth"}}})
    return {"width": 270, "height": 170, "data": {"values": values}, "layer": layers, "config": CONFIG}
