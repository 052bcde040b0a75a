"""CSV for people: spreadsheets run text that begins as a formula does, so such text gets an apostrophe in front."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from snellen.errors import harmless

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def plain_cell(cell: Any) -> Any:
    """The cell; text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a new line) with an
    apostrophe in front. Numbers, also those written as text, stay as they are."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def quoted_cell(text: str) -> str:
    """Text as `plain_cell` has it, so that `bare_cell` gives the very text back: what looks quoted is quoted once more."""
    quoted = plain_cell(text)
    return f"'{text}" if quoted == text and bare_cell(text) != text else str(quoted)


def bare_cell(text: str) -> str:
    """Text without the apostrophe that keeps a spreadsheet from running it."""
    rest = text.lstrip("'")
    return text[1:] if text != rest and plain_cell(rest) != rest else text


def to_csv(table: pd.DataFrame) -> str:
    """A table as CSV in which no cell, and no name of a column, is a formula or acts on a terminal."""
    safe = table.rename(columns=_shown)
    for place in range(safe.shape[1]):
        column = safe.iloc[:, place]
        if column.dtype.kind not in "biufcmM":
            safe.isetitem(place, [_shown(cell) for cell in column])
    return safe.to_csv(index=False)


def _shown(cell: Any) -> Any:
    cell = plain_cell(cell)
    return harmless(cell) if isinstance(cell, str) else cell
