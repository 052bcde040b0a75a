"""One measure against accuracy: a named point per model with both intervals, and dashed lines through the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from snellen.report.charts import (
    INK,
    chart,
    colour,
    dashed_rule,
    filled_points,
    interval_bars,
    layer,
    looks_by_name,
    quantitative,
)

WIDTH, HEIGHT = 250, 210
LINE, LETTER = 13, 6.2  # pixels of a label's height and, on average, of a letter's width at 11 points
GAP = 7  # between a point and its label
MARGIN = 0.08  # of the range, free on either side


@dataclass(frozen=True)
class Ends:
    """A value and the ends of its interval, which are the value itself where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AccuracyPoint:
    """A model by its place in the run: its accuracy (x) and its value (y)."""

    model: str
    place: int
    baseline: bool
    x: Ends
    y: Ends

    def row(self) -> dict[str, Any]:
        """The point as the chart reads it."""
        row: dict[str, Any] = {"model": self.model, "place": self.place, "baseline": self.baseline}
        for axis, ends in (("x", self.x), ("y", self.y)):
            row |= {axis: ends.value, f"{axis}_low": ends.low, f"{axis}_high": ends.high}
        return row


@dataclass(frozen=True)
class PlacedName:
    """Where a model's name stands: at x and y of the chart, its text from `begin` to `end` and at `top`, in pixels."""

    model: str
    x: float
    y: float
    align: Literal["left", "right"]
    dx: int
    begin: float
    end: float
    top: float


def against_accuracy(points: Sequence[AccuracyPoint], title: str, in_percent: bool) -> dict[str, Any]:
    """The chart of one measure; `title` is that of the vertical axis, which may be in percent."""
    x, y = _scale([point.x for point in points]), _scale([point.y for point in points])
    across, up = quantitative("x", "accuracy", _ticks(True), **x), quantitative("y", title, _ticks(in_percent), **y)
    hue = looks_by_name("model", [point.model for point in points], [colour(point.place) for point in points])
    at = {"x": across, "y": up, "color": hue}
    named = {"x": across, "y": up, "text": {"field": "model"}}
    baselines = [point for point in points if point.baseline]
    return chart(
        WIDTH,
        HEIGHT,
        [point.row() for point in points],
        *(dashed_rule("x", point.x.value, "baseline", opacity=0.5) for point in baselines),
        *(dashed_rule("y", point.y.value, "baseline", opacity=0.5) for point in baselines),
        interval_bars(at, "x", ("x_low", "x_high"), opacity=0.6),
        interval_bars(at, "y", ("y_low", "y_high"), opacity=0.6),
        filled_points(at, 60),
        *(
            layer("text", named, [asdict(name)], align=name.align, dx=name.dx, fontSize=11, color=INK)
            for name in place_names(points, x["domain"], y["domain"])
        ),
    )


def place_names(points: Sequence[AccuracyPoint], x: Sequence[float], y: Sequence[float]) -> list[PlacedName]:
    """Where the names stand: beside their points, on the side that has more room, moved so that none covers another."""
    placed: list[PlacedName] = []
    for point in sorted(points, key=lambda point: -point.y.value):
        left = _pixels(point.x.value, x, WIDTH)
        top = HEIGHT - _pixels(point.y.value, y, HEIGHT) - LINE / 2 - 1
        to_left, width = left > WIDTH / 2, LETTER * len(point.model)
        begin = left - GAP - width if to_left else left + GAP
        for other in sorted(placed, key=lambda name: name.top):  # from the top down, so that it is free of all before
            beside = other.begin < begin + width and begin < other.end
            if beside and abs(top - other.top) < LINE:
                top = other.top + LINE
        placed.append(
            PlacedName(
                model=point.model,
                x=point.x.value,
                y=y[0] + (HEIGHT - top) / HEIGHT * (y[1] - y[0]),
                align="right" if to_left else "left",
                dx=-GAP if to_left else GAP,
                begin=begin,
                end=begin + width,
                top=top,
            )
        )
    return placed


def _scale(values: Sequence[Ends]) -> dict[str, Any]:
    """From the lowest to the highest end of an interval, with a margin."""
    low, high = min(ends.low for ends in values), max(ends.high for ends in values)
    margin = MARGIN * (high - low) or 0.05 * abs(low) or 1.0
    return {"domain": [low - margin, high + margin], "zero": False, "nice": False}


def _pixels(value: float, domain: Sequence[float], length: int) -> float:
    return (value - domain[0]) / (domain[1] - domain[0]) * length


def _ticks(in_percent: bool) -> dict[str, Any]:
    return {"tickCount": 5, **({"format": ".0~%"} if in_percent else {})}
