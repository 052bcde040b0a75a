"""Short forms of what pages are mostly made of."""

from __future__ import annotations

from snellen.report.blocks.kinds import Prose
from snellen.report.blocks.parts import Span, TableCell


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
