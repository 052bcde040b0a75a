"""The calibration page: one dictionary of plain values, which HTML, Markdown and JSON render."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snellen.calibrate.climb import Climbed, Step
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.score import Point, Score
from snellen.report.charts import CONFIG, INK, colour, svg
from snellen.report.markdown import escaped
from snellen.version import __version__

MONOTONE = 0.9 - 1e-9  # the least rank correlation (0.9), in the right direction, that counts as following

SAID = {True: "follows", False: "does not follow"}


def page_of(climbed: Sequence[Climbed], out: Path, command: str) -> dict[str, Any]:
    """The page of some climbed ladders; nan becomes None."""
    return {
        "title": "Calibration: planted against measured",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "snellen": __version__,
        "command": command,
        "ladders": [_ladder(one, out) for one in climbed],
    }


def _ladder(one: Climbed, out: Path) -> dict[str, Any]:
    told = one.score
    return {
        "name": one.name,
        "title": one.ladder.title,
        "planted": one.ladder.planted,
        "says": one.ladder.says,
        "finding": one.ladder.finding,
        "measured": one.ladder.called or one.ladder.finding.replace("_", " "),
        "audits": one.ladder.audits,
        "moves": one.ladder.moves,
        "follows": follows(told, [step.point for step in one.steps], one.ladder.moves),
        "spearman": _plain(told.spearman),
        "slope": {name: _plain(getattr(told.slope, name)) for name in ("value", "low", "high")},
        "truth_slope": _plain(told.truth_slope),
        "worst": _plain(told.worst),
        "inside": told.inside,
        "points": [_point(step, one.ladder, out) for step in one.steps],
    }


def follows(told: Score, points: Sequence[Point], moves: str) -> bool:
    """Whether a finding went where it should: its rank correlation, or for `flat` one level inside every interval."""
    if moves == "flat":
        return len(points) > 1 and max(point.low for point in points) <= min(point.high for point in points)
    return (1 if moves == "up" else -1) * told.spearman >= MONOTONE


def _point(step: Step, ladder: Ladder, out: Path) -> dict[str, Any]:
    measured = {name: _plain(getattr(step.point, name)) for name in ("x", "value", "low", "high", "truth")}
    rung = step.rung
    learnt = (
        f"trained on {rung.train}" if ladder.taught is None else f"trained on what the ladder makes of {rung.train}"
    )
    return {**measured, "n": step.n, "model": rung.model or learnt, "data": rung.data,
            "run": step.run.relative_to(out).as_posix()}  # fmt: skip


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


# Renderings


def number(value: float | None) -> str:
    """A number with three decimals and a real minus sign; – for None."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def slope_text(ladder: Mapping[str, Any]) -> str:
    """The slope with its interval."""
    value, low, high = (number(ladder["slope"][name]) for name in ("value", "low", "high"))
    return value if ladder["slope"]["low"] is None else f"{value} [{low}, {high}]"


def truth_text(ladder: Mapping[str, Any]) -> str:
    """How far the truth was missed, and how many rungs hold it in their interval; – where it is not known."""
    if ladder["worst"] is None:
        return "–"
    return f"{number(ladder['worst'])}; {ladder['inside']} of {len(ladder['points'])}"


HEAD = ("ladder", "planted", "finding", "rank", "slope, 95 %", "true slope", "furthest; rungs inside", "")


def rows_of(page: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The table of all ladders as texts."""
    return [
        (
            one["name"],
            one["planted"],
            one["measured"],
            number(one["spearman"]),
            slope_text(one),
            number(one["truth_slope"]),
            truth_text(one),
            SAID[one["follows"]],
        )
        for one in page["ladders"]
    ]


def markdown_of(page: Mapping[str, Any]) -> str:
    """The page as Markdown: the table, what each ladder says and its numbers."""
    parts = [f"# {page['title']}", f"{page['created'][:10]} · snellen {page['snellen']} · `{page['command']}`"]
    rows = [HEAD, tuple("---" for _ in HEAD), *(tuple(map(escaped, row)) for row in rows_of(page))]
    parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    for one in page["ladders"]:
        points = [("planted", "measured", "95 %", "truth"), ("---",) * 4]
        points += [
            (f"{p['x']:g}", number(p["value"]), f"{number(p['low'])} … {number(p['high'])}", number(p["truth"]))
            for p in one["points"]
        ]
        parts += [f"## {escaped(one['title'])} (`{one['name']}`)", escaped(one["says"])]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in points))
    return "\n\n".join(parts) + "\n"


def html_of(page: Mapping[str, Any]) -> str:
    """The page as one HTML file in the style of the report."""
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
    return templates.get_template("calibration.html").render(
        page=page, head=HEAD, rows=rows_of(page), number=number, chart=lambda one: Markup(svg(chart_of(one)))
    )


def chart_of(ladder: Mapping[str, Any]) -> dict[str, Any]:
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
