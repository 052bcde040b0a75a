"""Blocks: what a page shows, as frozen dataclasses that are JSON. How a block looks is the renderers' business.

A *line* is a tuple of plain texts and `Span`s. A *hue* is the colour of a dot: "0" to "7" for models by their place in a
run, "bar" for what belongs to none, "" for no dot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Span:
    """Some words with a style, a tooltip or a dot before them."""

    text: str
    style: Literal["", "bold", "code", "flag", "soft"] = ""
    title: str = ""
    hue: str = ""


Line: TypeAlias = tuple[str | Span, ...]


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
class Entry:
    """The text under a term: a line, and a list below it."""

    term: str
    line: Line
    items: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Definitions:
    """Terms, each with its text."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Command:
    """A command line, or several, to be pasted."""

    text: str


@dataclass(frozen=True)
class Badge:
    """A small remark at a number, such as its DI: `title` is its tooltip, `note` what follows it."""

    text: str
    flagged: bool = False
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class TableCell:
    """What stands in one place of a table: `text`, for numbers with the bare `value` and an `interval` beside it.

    `shade` (0 to 1) colours the cell in the accent colour, or with the tone `warn` in that of warnings.
    """

    text: str
    value: float | None = None
    interval: str = ""
    badge: Badge | None = None
    note: str = ""
    bold: bool = False
    title: str = ""
    hue: str = ""
    tone: Literal["", "good", "bad", "soft", "code", "warn"] = ""
    shade: float = 0.0


@dataclass(frozen=True)
class Answer:
    """A model's answer to a picture; `right` is None where there is nothing to be right about."""

    text: str
    right: bool | None = None
    note: str = ""
    title: str = ""
    hue: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture as a data address (None: there is none) and the answers to it."""

    source: str | None
    alt: str
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class Row:
    """A row of a table or gallery; `strong` sets it off from the others."""

    head: TableCell
    cells: tuple[TableCell | Picture, ...]
    strong: bool = False

    @property
    def width(self) -> int:
        """How many columns it fills."""
        return 1 + len(self.cells)


@dataclass(frozen=True)
class Group:
    """A line across a table that names the rows below it."""

    text: str
    hue: str = ""


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
}
PARTS: dict[str, type] = {
    "span": Span,
    "entry": Entry,
    "badge": Badge,
    "cell": TableCell,
    "answer": Answer,
    "picture": Picture,
    "row": Row,
    "group": Group,
}
BLOCK_TYPES = {**BLOCKS, **PARTS}
NAMES = {kind: name for name, kind in BLOCK_TYPES.items()}


@dataclass(frozen=True)
class Page:
    """A title and blocks."""

    title: str
    blocks: tuple[Block, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"title": …, "blocks": [{"kind": "heading", …}, …]}`; fields that have their default are left out."""
        return {"title": self.title, "blocks": to_json(self.blocks)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Page:
        """The page that such a dictionary is of."""
        return cls(content["title"], from_json(content["blocks"]))


def to_json(value: Any) -> Any:
    """Blocks, and what is inside them, as dictionaries and lists."""
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if type(value) not in NAMES:
        return value
    content: dict[str, Any] = {"kind": NAMES[type(value)]}
    for declared in fields(value):
        inside = getattr(value, declared.name)
        if declared.default is MISSING or inside != declared.default:
            content[declared.name] = inside if declared.metadata.get("plain") else to_json(inside)
    return content


def from_json(content: Any) -> Any:
    """The blocks that `to_json` wrote."""
    if isinstance(content, list):
        return tuple(from_json(item) for item in content)
    if not isinstance(content, dict):
        return content
    kind = BLOCK_TYPES[content["kind"]]
    plain = {declared.name for declared in fields(kind) if declared.metadata.get("plain")}
    return kind(
        **{name: inside if name in plain else from_json(inside) for name, inside in content.items() if name != "kind"}
    )


# Short forms


def prose(*line: str | Span) -> Prose:
    """A plain paragraph."""
    return Prose(line)


def lead(*line: str | Span) -> Prose:
    """What a section shows."""
    return Prose(line, "lead")


def note(*line: str | Span) -> Prose:
    """How to read what stands before it."""
    return Prose(line, "note")


def bold(text: str) -> Span:
    """Words that matter."""
    return Span(text, "bold")


def code(text: str) -> Span:
    """A name or a text form."""
    return Span(text, "code")


def heads(*texts: str) -> tuple[TableCell, ...]:
    """The head of a table, from bare texts."""
    return tuple(map(TableCell, texts))
