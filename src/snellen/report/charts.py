"""Charts: Vega-Lite as plain dictionaries, drawn to inline SVG whose colours are the page's own CSS variables.

Plain dictionaries because importing Altair costs half a second and the charts are few; the first chart of a process
takes about 0.6 s, each further one some 40 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any, Literal

from snellen.audits.facts import Number
from snellen.audits.stored_finding import Mark
from snellen.errors import one_line

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b260a5",
    "#6b5600",
    "#3a9bd6",
    "#6a3fd8",
    "#464646",
)  # differ with deuteranopia too
INK, GRID, CARD, WARN = "var(--ink, #222)", "var(--grid, #ddd)", "var(--card, #fff)", "var(--warn, #c2410c)"
BAR = "var(--bar, #8aa0b8)"
TICKS = {"tickCount": 5}
PERCENT = {"format": "%", **TICKS}
LONGEST_LINE = 24  # of an axis label, in characters
BREAK = "¶"  # where a label's next line begins: Vega ends at real line breaks in texts, and they are escaped
Rows = Sequence[Mapping[str, Any]]
ChartLength = int | Mapping[str, int]

CONFIG: dict[str, Any] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID,
        "titleFontWeight": "normal", "labelFontSize": 11, "titleFontSize": 11,
    },
}  # fmt: skip


def colour(position: int) -> str:
    """The colour of a model by its place in the run: a CSS variable, with a fallback where the page has none."""
    place = position % len(COLOURS)
    return f"var(--c{place}, {COLOURS[place]})"


def dash(position: int) -> list[int]:
    """The line pattern: solid, then other dashes once the colours are used up."""
    return [[1, 0], [6, 3], [2, 2]][position // len(COLOURS) % 3]


def svg(spec: Mapping[str, Any]) -> str:
    """The chart as SVG text; data values inside are escaped by Vega, and control characters before: they end its process."""
    import vl_convert

    clean = _with_texts(spec, one_line)
    try:
        return vl_convert.vegalite_to_svg(clean, vl_version="5.20")
    except ValueError:  # Vega cuts a long label by UTF-16 units, and half a character is no text
        return vl_convert.vegalite_to_svg(_with_texts(clean, _in_basic_plane), vl_version="5.20")


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A specification with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _with_texts(inside, change) for name, inside in value.items()}
    return [_with_texts(inside, change) for inside in value] if isinstance(value, list | tuple) else value


def _in_basic_plane(text: str) -> str:
    return "".join(char if ord(char) <= 0xFFFF else "\ufffd" for char in text)


def chart(width: ChartLength, height: ChartLength, values: Rows, *layers: dict[str, Any]) -> dict[str, Any]:
    """Layers over the rows that all share but those with rows of their own; a length is in pixels, or of each step."""
    return {"width": width, "height": height, "data": {"values": list(values)}, "layer": list(layers), "config": CONFIG}


# Axes


def quantitative(field: str, title: str, axis: Mapping[str, Any] = TICKS, **scale: Any) -> dict[str, Any]:
    """The axis of a number; `scale` holds what Vega should not choose by itself."""
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, **({"scale": scale} if scale else {})}


def share(field: str, title: str) -> dict[str, Any]:
    """The axis of a share, from 0 to 100%."""
    return quantitative(field, title, PERCENT, domain=[0, 1])


def nominal(field: str, order: Sequence[str] | None, **axis: Any) -> dict[str, Any]:
    """The axis of names, in this order or in that of the rows; it needs no title."""
    return {"field": field, "type": "nominal", "title": None, "sort": order, "axis": axis}


def in_lines(words: str) -> str:
    """The words in lines short enough for the labels of `nominal_in_lines`."""
    return fill(words, LONGEST_LINE).replace("\n", BREAK)


def nominal_in_lines(field: str, order: Sequence[str] | None, **axis: Any) -> dict[str, Any]:
    """The vertical axis of names whose labels have lines, each of them about the middle of its place."""
    lines = [
        {"test": f"length(split(datum.label, '{BREAK}')) == {count}", "value": -6 * (count - 1)} for count in (2, 3, 4)
    ]
    lifted = {"condition": lines, "value": 0}
    return nominal(field, order, labelExpr=f"split(datum.label, '{BREAK}')", labelOffset=lifted, **axis)


def beside(axis: Literal["x", "y"], models: Sequence[str]) -> dict[str, Any]:
    """The place of each model's bar beside those of others, where there are any."""
    return {f"{axis}Offset": {"field": "model", "sort": list(models)}} if len(models) > 1 else {}


# How names are told apart


def looks_by_name(
    field: str, names: Sequence[str], looks: Sequence[Any], legend: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The look of each name: a colour, a line pattern or a shape."""
    return {"field": field, "type": "nominal", "scale": {"domain": list(names), "range": list(looks)}, "legend": legend}


def by_name(field: str, names: Sequence[str], legend: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The colour of each name by its place."""
    return looks_by_name(field, names, [colour(place) for place in range(len(names))], legend)


def dashes_by_name(field: str, names: Sequence[str]) -> dict[str, Any]:
    """The line pattern of each name by its place."""
    return looks_by_name(field, names, [dash(place) for place in range(len(names))])


# Layers; `look` is what Vega-Lite calls the properties of a mark


def layer(mark: str, encoding: Mapping[str, Any], values: Rows | None = None, **look: Any) -> dict[str, Any]:
    """A mark for each row, or for each of its own `values`."""
    data = {} if values is None else {"data": {"values": list(values)}}
    return {**data, "mark": {"type": mark, **look}, "encoding": dict(encoding)}


def where(test: str, mark: Mapping[str, Any]) -> dict[str, Any]:
    """A layer of only the rows that pass a test in Vega's language."""
    return {"transform": [{"filter": test}], **mark}


def lines(encoding: Mapping[str, Any], width: float = 2, **look: Any) -> dict[str, Any]:
    """A layer: lines through the points."""
    return layer("line", encoding, strokeWidth=width, **look)


def filled_points(encoding: Mapping[str, Any], size: int, opacity: float = 1) -> dict[str, Any]:
    """A layer: filled points."""
    return layer("point", encoding, filled=True, opacity=opacity, size=size)


def rings(encoding: Mapping[str, Any]) -> dict[str, Any]:
    """A layer: rings, which stand for published values."""
    return layer("point", encoding, filled=False, stroke=INK, size=60, strokeWidth=1.4)


def interval_bars(
    encoding: Mapping[str, Any], along: Literal["x", "y"] = "y", ends: tuple[str, str] = ("low", "high"), **look: Any
) -> dict[str, Any]:
    """A layer: for each point of `encoding` a bar from one end of its interval to the other."""
    low, high = ends
    return layer("rule", {**encoding, along: {**encoding[along], "field": low}, f"{along}2": {"field": high}}, **look)


def dashed_rule(axis: Literal["x", "y"], at: Number, name: str = "at", **look: Any) -> dict[str, Any]:
    """A layer: a thin dashed line across the chart at a value of one axis; `name` tells those who listen what it is."""
    look = {"strokeDash": [3, 3], "color": INK, "opacity": 0.6, **look}
    return layer("rule", {axis: {"field": name, "type": "quantitative"}}, [{name: at}], **look)


def rules_by_model(name: str, at: Mapping[str, float], models: Sequence[str], dashes: Sequence[int]) -> dict[str, Any]:
    """A layer: for each model a dashed line in its colour across the chart, at a value of the vertical axis."""
    rows = [{"model": model, name: value} for model, value in at.items()]
    encoding = {"y": {"field": name, "type": "quantitative"}, "color": by_name("model", models)}
    return layer("rule", encoding, rows, strokeDash=list(dashes), strokeWidth=1.4, opacity=0.8)


def diagonal(x: Mapping[str, Any], y: Mapping[str, Any], dashes: Sequence[int] = (3, 3)) -> dict[str, Any]:
    """A layer: the dashed line on which two shares are equal."""
    encoding = {"x": {**x, "field": "at"}, "y": {**y, "field": "at"}}
    return layer("line", encoding, [{"at": 0}, {"at": 1}], strokeDash=list(dashes), color=INK, opacity=0.6)


def lines_with_bands(
    x: Mapping[str, Any], y: Mapping[str, Any], models: Sequence[str], width: float = 2, opacity: float = 0.16
) -> list[dict[str, Any]]:
    """Two layers: for each model a band from `low` to `high` and a line through its points, told apart by colour and dashes."""
    hue = by_name("model", models)
    return [
        layer("area", {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue}, opacity=opacity),
        lines({"x": x, "y": y, "color": hue, "strokeDash": dashes_by_name("model", models)}, width),
    ]


# Curves over the covered share


@dataclass(frozen=True)
class CurvePoint:
    """A value and its interval where so much of the image is covered, and how its interference is marked."""

    covered: float
    value: float
    low: Number
    high: Number
    mark: Mark = ""


@dataclass(frozen=True)
class CurvePanel:
    """The points of each model, from no cover on; `rule` is where the dashed line lies, such as chance."""

    title: str
    lines: Mapping[str, Sequence[CurvePoint]]
    rule: float


def curve_chart(panel: CurvePanel, models: Sequence[str], y: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Accuracy against covered share: a line and an interval band per model, a dashed line, marked points.

    `y` is the axis of the values, where they are of another kind.
    """
    points = [{"model": model, **asdict(point)} for model, line in panel.lines.items() for point in line]
    x, y = share("covered", "covered share of the image"), y or share("value", "accuracy")
    hue = by_name("model", models)
    shapes = {"": "circle", "unclear": "circle", "raised": "triangle-up", "flagged": "triangle-up"}
    spots = {
        "x": x,
        "y": y,
        "stroke": hue,
        "fill": {"condition": {"test": "datum.mark === 'raised'", "value": CARD}, **hue},
        "shape": looks_by_name("mark", list(shapes), list(shapes.values())),
        "size": {"condition": {"test": "datum.mark !== ''", "value": 90}, "value": 36},
    }
    marked = layer("point", spots, filled=True, opacity=1, strokeWidth=1.5)
    return chart(340, 240, points, dashed_rule("y", panel.rule, "chance"), *lines_with_bands(x, y, models), marked)
