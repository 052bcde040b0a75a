"""Bars of a table of a page, as SVG: what a results page opens with shows numbers of that page and no others."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from html import escape

NUMBER = re.compile(r"[−+-]?\d[\d,]*\.?\d*|[−+-]?\.\d+")
RANGE = re.compile(r"^[^\[(]*[\[(]([−-]?[\d.]+)(?:, | to )([−-]?[\d.]+)[\])]")
SPREAD = re.compile(r"^[^±]*± ?([\d.]+)")
WIDTH, ROW, BAR, TOP = 800, 26, 16, 46
LONGEST = 54  # characters of a label
COLOURS = ("#2f6fb7", "#c8641b", "#3d8a5f", "#8a5aa8", "#707a86")
INK, FAINT, GROUND = "#202124", "#c9ced6", "#ffffff"


@dataclass(frozen=True)
class Bars:
    """Which table of a page, by the heading above it and its place there, and which of its rows and columns."""

    heading: str
    columns: tuple[str, ...]
    title: str
    rows: tuple[str, ...] = ()  # those in which one of these stands; none: all
    label: tuple[int, ...] = (0,)  # the columns that name a row
    highest: int = 0  # only so many rows, those of the highest values; 0: all
    place: int = 0
    top: float = math.nan  # the end of the axis; nan: of the largest value


@dataclass(frozen=True)
class Counts:
    """How many rows of the first table of a page have each value of a column."""

    column: str
    title: str


@dataclass(frozen=True)
class Value:
    """A number of a cell, with its interval or spread where it has one."""

    value: float
    low: float
    high: float


def tables(page: str, heading: str) -> list[list[list[str]]]:
    """The tables below a heading, each as rows of cells, the first its head."""
    lines = page.partition(f"\n{heading}\n")[2].splitlines() if heading else page.splitlines()
    found: list[list[list[str]]] = []
    inside = False
    for line in lines:
        if line.startswith("#") and heading:
            break
        if line.startswith("|"):
            cells = [cell.strip().replace("\\", "").strip("*`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not inside:
                found.append([])
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                found[-1].append(cells)
        inside = line.startswith("|")
    return found


def number(text: str) -> float:
    match = NUMBER.search(text)
    return float(match[0].replace("−", "-").replace(",", "")) if match else math.nan


def value(cell: str) -> Value:
    """The first number of a cell, with what stands behind it in brackets or after ±."""
    here = number(cell)
    if match := RANGE.match(cell):
        low, high = (float(part.replace("−", "-")) for part in match.groups())
        if low <= here <= high:
            return Value(here, low, high)
    if match := SPREAD.match(cell):
        return Value(here, here - float(match[1]), here + float(match[1]))
    return Value(here, here, here)


def counted(page: str, counts: Counts) -> tuple[list[str], list[list[Value]]]:
    """Each value of the column, the highest first, and in how many rows it stands."""
    head, *rows = tables(page, "")[0]
    found = Counter(row[head.index(counts.column)] for row in rows)
    labels = sorted(found, key=number, reverse=True)
    return labels, [[Value(found[label], found[label], found[label])] for label in labels]


def chosen(page: str, bars: Bars) -> tuple[list[str], list[list[Value]]]:
    """The labels and, for each, a value per column."""
    head, *rows = tables(page, bars.heading)[bars.place]
    places = [head.index(column) for column in bars.columns]
    kept = [row for row in rows if not bars.rows or any(part in " | ".join(row) for part in bars.rows)]
    if bars.highest:
        kept = sorted(kept, key=lambda row: -value(row[places[0]]).value)[: bars.highest]
    return [", ".join(row[place] for place in bars.label) for row in kept], [
        [value(row[place]) for place in places] for row in kept
    ]


def drawing(page: str, bars: Bars | Counts) -> str:
    """The chart as SVG, on a white ground so that it can be read on light and dark pages."""
    labels, values = counted(page, bars) if isinstance(bars, Counts) else chosen(page, bars)
    columns = () if isinstance(bars, Counts) else bars.columns
    top = math.nan if isinstance(bars, Counts) else bars.top
    every = [one for row in values for one in row if not math.isnan(one.value)]
    high = top if not math.isnan(top) else max(0.0, *(one.high for one in every))
    low = min(0.0, *(one.low for one in every))
    start = 30 + 7.0 * max(min(len(label), LONGEST) for label in labels)  # of the bars
    room = WIDTH - start - 70

    def x(number: float) -> float:
        return start + room * (min(max(number, low), high) - low) / (high - low)

    block = ROW if len(columns) < 2 else 10 + BAR * len(columns)
    height = TOP + block * len(labels) + 14 + (22 if len(columns) > 1 else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif"'
        ' font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{GROUND}"/>',
        f'<text x="14" y="26" font-size="15" font-weight="600" fill="{INK}">{escape(bars.title)}</text>',
        f'<line x1="{x(0):.1f}" y1="{TOP - 6}" x2="{x(0):.1f}" y2="{TOP + block * len(labels)}" stroke="{FAINT}"/>',
    ]
    for row, (label, cells) in enumerate(zip(labels, values)):
        middle = TOP + block * row + block / 2
        parts.append(
            _text(start - 10, middle + 4, label if len(label) <= LONGEST else label[: LONGEST - 1] + "…", "end")
        )
        for column, one in enumerate(cells):
            if math.isnan(one.value):
                continue
            top = middle + (column - len(cells) / 2) * BAR + 2
            left, right = sorted((x(0), x(one.value)))
            colour = COLOURS[column % len(COLOURS)]
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{BAR - 4}" fill="{colour}"/>'
            )
            if one.low < one.high:
                line = top + (BAR - 4) / 2
                parts.append(
                    f'<path d="M{x(one.low):.1f} {line:.1f}H{x(one.high):.1f}" stroke="{INK}" stroke-width="1.4"/>'
                )
            parts.append(_text(max(x(one.high), x(one.value)) + 6, top + BAR - 6, f"{one.value:g}", "start"))
    if len(columns) > 1:
        place = start
        for column, name in enumerate(columns):
            parts.append(
                f'<rect x="{place:.0f}" y="{height - 22}" width="12" height="12" fill="{COLOURS[column % len(COLOURS)]}"/>'
            )
            parts.append(_text(place + 17, height - 12, name, "start"))
            place += 34 + 7.4 * len(name)
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'
