"""What commands print: results on stdout, the rest on stderr. Names and texts from input never act on the terminal."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from snellen.errors import CONTROL, one_line

_NOT_A_BREAK = re.compile(r"\r\n|\n|" + CONTROL.pattern)


def show(text: object = "", end: str = "\n") -> None:
    """One line of the result."""
    print(one_line(str(text)), end=end)


def show_block(text: str) -> None:
    """Several lines of the result at once, such as a table that a library wrote."""
    print(_block(text))


def show_json(value: Any) -> None:
    """The result as JSON; what would act on a terminal is written as JSON's own escapes."""
    print(json_text(value))


def json_text(value: Any, allow_nan: bool = True) -> str:
    """A value as JSON in lines; what would act on a terminal is written as JSON's own escapes."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=allow_nan)
    return CONTROL.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)


def tell(text: object, end: str = "\n") -> None:
    """One line beside the result."""
    print(one_line(str(text)), end=end, file=sys.stderr, flush=True)


def tell_block(text: str) -> None:
    """Several lines beside the result, such as a traceback."""
    print(_block(text), file=sys.stderr, flush=True)


def _block(text: str) -> str:
    """The text with its line breaks, and all else that would act on a terminal as escapes."""
    return _NOT_A_BREAK.sub(lambda match: "\n" if match[0].endswith("\n") else one_line(match[0]), text)
