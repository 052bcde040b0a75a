"""What stands inside blocks: words, cells, answers, pictures, bars and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Span:
    """Some words with a style, a tooltip, a dot before them, or a `link` to the anchor of a chapter."""

    text: str
    style: Literal["", "bold", "code", "flag", "soft"] = ""
    title: str = ""
    hue: str = ""
    link: str = ""


Line: TypeAlias = tuple[str | Span, ...]


@dataclass(frozen=True)
class Entry:
    """The text under a term: a line, and a list below it."""

    term: str
    line: Line
    items: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Badge:
    """A small remark at a number, such as its DI: `title` is its tooltip, `note` what follows it."""

    text: str
    flagged: bool = False
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A share as a bar: its value and interval, all 0 to 1, and a tick at `level`, such as chance or the clean accuracy."""

    value: float
    low: float | None = None
    high: float | None = None
    level: float | None = None
    hue: str = ""


@dataclass(frozen=True)
class TableCell:
    """What stands in one place of a table: `text`, for numbers with the bare `value` and an `interval` beside it.

    `shade` (0 to 1) colours the cell in the accent colour, or with the tone `warn` in that of warnings. `more` is shown on
    request, such as the distortion's text behind its words.
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
    bar: Bar | None = None
    more: str = ""


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
class Shot:
    """A condition as a picture: an image under it, what it is called, the accuracy as text and bar, and the answers to the image.

    `mark` says that the distortion itself may be taken for a class, with the mark's sign; `title` explains it.
    """

    picture: Picture
    words: str
    text: str
    interval: str = ""
    bar: Bar | None = None
    mark: Line = ()
    flagged: bool = False
    title: str = ""


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
