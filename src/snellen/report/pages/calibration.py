"""The page of a calibration: what was planted in the phantom world against what the audits measured of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from snellen.audits.facts import Number
from snellen.report.blocks import (
    Block,
    Chart,
    Command,
    Details,
    FactLine,
    Heading,
    Page,
    Panels,
    Prose,
    Row,
    Span,
    Table,
    TableCell,
    bold,
    code,
    heads,
    note,
    prose,
)
from snellen.report.charts import INK, chart, colour, filled_points, interval_bars, lines, quantitative
from snellen.report.render import write_page
from snellen.report.words import UNKNOWN

HEAD = ("series", "planted", "finding", "rank", "slope, 95%", "true slope", "furthest; levels inside", "")
VERDICTS = {True: "follows", False: "does not follow"}


class RungResult(msgspec.Struct, frozen=True, kw_only=True):
    """A rung: what was planted, what was measured with its 95% interval, the truth where it is known, and who was asked what."""

    x: Number
    value: Number
    low: Number
    high: Number
    truth: Number
    n: int
    model: str
    data: str
    run: str


class SlopeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A least-squares slope with its 95% interval."""

    value: Number
    low: Number
    high: Number


class LadderResult(msgspec.Struct, frozen=True, kw_only=True):
    """A ladder, how its finding followed what was planted (see `calibrate.score.SeriesScore`), and its rungs."""

    name: str
    title: str
    planted: str
    says: str
    finding: str
    measured: str
    audits: str
    moves: Literal["up", "down", "flat"]
    follows: bool
    spearman: Number
    slope: SlopeResult
    truth_slope: Number
    worst: Number
    inside: int | None
    points: list[RungResult]


class CalibrationResult(msgspec.Struct, frozen=True, kw_only=True):
    """What calibration.json holds and the page shows."""

    title: str
    created: str
    snellen: str
    command: str
    ladders: list[LadderResult]


def write(result: CalibrationResult, folder: Path) -> None:
    """Write calibration.html, and calibration.md in brief."""
    write_page(page_of(result), folder / "calibration.html")
    write_page(brief_page_of(result), folder / "calibration.md")


def page_of(result: CalibrationResult) -> Page:
    """The whole page: the table of ladders, and a chart with its numbers for each."""
    follow = sum(ladder.follows for ladder in result.ladders)
    return Page(
        result.title,
        (
            FactLine(
                (
                    (bold(f"{follow} of {len(result.ladders)}"), " series follow what was planted"),
                    (result.created[:10],),
                    (f"snellen {result.snellen}",),
                )
            ),
            Command(result.command),
            prose(
                "In the phantom world what a model relies on can be planted: by an observer that answers as it is built to, or "
                "by a dial of the world that a network learns from. Each series plants more of one thing from level to level and "
                "reads the finding that should see it."
            ),
            _overview(result),
            note(
                "Rank is Spearman’s correlation of planted and measured, 1 or −1 where the finding moves with every level; a "
                "series follows from 0.9 on in the right direction, and one that should stay flat where one value lies in the "
                "interval of every level. The slope is a least-squares fit, its interval follows from those of the levels. Where "
                "the truth is known exactly, the table gives its slope, the largest distance of a level from it and the number "
                "of levels whose 95% interval holds it. About one in twenty should not; levels share their images, so misses "
                "come together."
            ),
            FactLine(((Span("measured, with its 95% interval", hue="0"),), ("┅ the truth, where it is known",))),
            Panels(tuple(map(_panel, result.ladders)), "even"),
            Prose(
                (
                    f"Made by snellen {result.snellen}. The same for machines: calibration.json; every answer is in the run "
                    "folders under runs.",
                ),
                "foot",
            ),
        ),
    )


def brief_page_of(result: CalibrationResult) -> Page:
    """The page in brief, for Markdown: the table, what each ladder says and its numbers."""
    blocks: list[Block] = [
        FactLine(((result.created[:10],), (f"snellen {result.snellen}",), (code(result.command),))),
        _overview(result),
    ]
    for ladder in result.ladders:
        blocks += [Heading(ladder.title, code=ladder.name), prose(ladder.says), _numbers(ladder.points)]
    return Page(result.title, tuple(blocks))


def rows_of(result: CalibrationResult) -> list[tuple[str, ...]]:
    """The table of all ladders as texts."""
    return [
        (
            ladder.name,
            ladder.planted,
            ladder.measured,
            number(ladder.spearman),
            _slope(ladder.slope),
            number(ladder.truth_slope),
            _truth(ladder),
            VERDICTS[ladder.follows],
        )
        for ladder in result.ladders
    ]


def number(value: Number) -> str:
    """A number with three decimals and a real minus sign; a dash for None."""
    return UNKNOWN if value is None else f"{value:.3f}".replace("-", "−")


def _slope(slope: SlopeResult) -> str:
    """The slope with its interval."""
    value = number(slope.value)
    return value if slope.low is None else f"{value} [{number(slope.low)}, {number(slope.high)}]"


def _truth(ladder: LadderResult) -> str:
    """How far the truth was missed, and how many rungs hold it in their interval; a dash where it is not known."""
    if ladder.worst is None:
        return UNKNOWN
    return f"{number(ladder.worst)}; {ladder.inside} of {len(ladder.points)}"


def _overview(result: CalibrationResult) -> Table:
    rows = []
    for ladder, (name, planted, finding, *texts, verdict) in zip(result.ladders, rows_of(result)):
        values = (ladder.spearman, ladder.slope.value, ladder.truth_slope, ladder.worst)
        mark = TableCell(f"✓ {verdict}", tone="good") if ladder.follows else TableCell(f"✗ {verdict}", tone="bad")
        rows.append(
            Row(TableCell(name), (TableCell(planted), TableCell(finding), *map(TableCell, texts, values), mark))
        )
    return Table(heads(*HEAD), tuple(rows), dense=True)


def _panel(ladder: LadderResult) -> Chart:
    last = ladder.points[-1]
    question = note("asked: ", code(last.model), " about ", code(last.data), " with ", code(ladder.audits))
    return Chart(
        ladder.title,
        chart_of(ladder),
        ((code(ladder.name),), (ladder.says,)),
        below=(Details("The numbers", (_numbers(ladder.points), question)),),
    )


def _numbers(points: Sequence[RungResult]) -> Table:
    rows = [
        Row(
            TableCell(f"{point.x:g}"),
            (
                TableCell(number(point.value), point.value),
                TableCell(f"{number(point.low)} … {number(point.high)}"),
                TableCell(number(point.truth), point.truth),
            ),
        )
        for point in points
    ]
    return Table(heads("planted", "measured", "95%", "truth"), tuple(rows), dense=True)


def chart_of(ladder: LadderResult) -> dict[str, Any]:
    """Measured against planted: points with their intervals, joined; the truth, where known, as a dashed line."""
    points = [point for point in ladder.points if point.value is not None]
    values = [msgspec.structs.asdict(point) for point in points]
    x = quantitative("x", ladder.planted)
    y = quantitative("value", ladder.measured, zero=True, nice=True)
    at = {"x": x, "y": y, "color": {"value": colour(0)}}
    layers = [interval_bars(at, strokeWidth=1.5), lines(at), filled_points(at, 40)]
    if all(point.truth is not None for point in points):
        truth = {"x": x, "y": {**y, "field": "truth"}}
        layers.append(lines(truth, 1.6, strokeDash=[5, 4], color=INK, opacity=0.75))
    return chart(270, 170, values, *layers)
