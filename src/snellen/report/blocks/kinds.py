"""The kinds of blocks, as frozen dataclasses that are JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from snellen.report.blocks.parts import (
    Answer,
    Badge,
    Bar,
    Entry,
    Group,
    Line,
    Picture,
    Row,
    Shot,
    Span,
    TableCell,
)


@dataclass(frozen=True)
class Heading:
    """A heading; `code` is what it is called in the text language."""

    text: str
    level: int = 2
    code: str = ""


@dataclass(frozen=True)
class Prose:
    """A paragraph: `lead` opens a section, `note` explains what stands before it, `foot` ends a page."""

    line: Line
    style: Literal["plain", "lead", "note", "foot"] = "plain"


@dataclass(frozen=True)
class Bullets:
    """A list, a line for each item."""

    items: tuple[Line, ...]


@dataclass(frozen=True)
class FactLine:
    """Short facts in a row, such as those under a title, or the keys of a chart."""

    items: tuple[Line, ...]


@dataclass(frozen=True)
class Definitions:
    """Terms, each with its text."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Command:
    """A command line, or several, to be pasted."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; `head` may be empty, `dense` is for many narrow columns."""

    head: tuple[TableCell, ...]
    rows: tuple[Row | Group, ...]
    dense: bool = False


@dataclass(frozen=True)
class Gallery:
    """Pictures in rows, `side` pixels wide; `across` rows stand side by side where there is room."""

    head: tuple[TableCell, ...]
    rows: tuple[Row | Group, ...]
    across: int = 1
    side: int = 96


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite `spec`, a title and caption lines above it, and blocks below it."""

    title: str
    spec: Mapping[str, Any] = field(metadata={"plain": True})
    caption: tuple[Line, ...] = ()
    hue: str = ""
    wide: bool = False
    below: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Panels:
    """Charts, or cards, side by side as far as there is room."""

    blocks: tuple[Block, ...]
    size: Literal["normal", "small", "even"] = "normal"


@dataclass(frozen=True)
class CardBlock:
    """A box with a title; the tone `warning` asks to be read first."""

    title: str
    blocks: tuple[Block, ...]
    tone: Literal["", "warning"] = ""
    hue: str = ""
    level: int = 3


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away under a summary."""

    summary: str
    blocks: tuple[Block, ...]
    open: bool = False


@dataclass(frozen=True)
class Published:
    """Published values beside those of the page: of which paper, and whether they are of the same data."""

    paper: str
    comparable: bool
    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Strip:
    """Pictures of conditions side by side, each with its accuracy."""

    shots: tuple[Shot, ...]


@dataclass(frozen=True)
class Chapter:
    """A part of a page that is closed to its title and headline and opened on demand; `anchor` is its address on the page."""

    title: str
    headline: Line
    blocks: tuple[Block, ...]
    anchor: str = ""


Block: TypeAlias = (
    Heading
    | Prose
    | Bullets
    | FactLine
    | Definitions
    | Command
    | Table
    | Gallery
    | Chart
    | Panels
    | CardBlock
    | Details
    | Published
    | Strip
    | Chapter
)

BLOCKS: dict[str, type] = {
    "heading": Heading,
    "prose": Prose,
    "bullets": Bullets,
    "facts": FactLine,
    "definitions": Definitions,
    "command": Command,
    "table": Table,
    "gallery": Gallery,
    "chart": Chart,
    "panels": Panels,
    "card": CardBlock,
    "details": Details,
    "published": Published,
    "strip": Strip,
    "chapter": Chapter,
}
PARTS: dict[str, type] = {
    "span": Span,
    "entry": Entry,
    "badge": Badge,
    "bar": Bar,
    "cell": TableCell,
    "answer": Answer,
    "picture": Picture,
    "shot": Shot,
    "row": Row,
    "group": Group,
}
BLOCK_TYPES = {**BLOCKS, **PARTS}
NAMES = {kind: name for name, kind in BLOCK_TYPES.items()}
