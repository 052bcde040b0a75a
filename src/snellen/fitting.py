"""What a field of a dataclass takes, read from its type, and values made to fit it.

The text language and requests share it. Values of the text language have their type already; those of a request may be texts,
as a shell and YAML give them.
"""

from __future__ import annotations

import math
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union

from snellen.files.plain import expand_home

NO_FIT: Any = object()
NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
}
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class FieldType:
    """What a field takes: `words` with a meaning of their own, values of some `kinds`, lists of `items`, None if `optional`."""

    words: tuple[str, ...]
    kinds: tuple[Any, ...]
    items: FieldType | None
    optional: bool

    def fit(self, value: Any, *, texts: bool = False) -> Any:
        """The value in the first type that it fits, else NO_FIT; lists are for the caller. With `texts` texts are read."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return value
        for kind in self.kinds:
            result = _read(value, kind) if texts else _check(value, kind)
            if result is not NO_FIT:
                return result
        return NO_FIT


def field_type(hint: Any) -> FieldType:
    """What a field of this type takes."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    words = [str(w) for kind in options if typing.get_origin(kind) is Literal for w in typing.get_args(kind)]
    lists = [kind for kind in options if typing.get_origin(kind) is tuple]
    kinds = [kind for kind in options if typing.get_origin(kind) not in (Literal, tuple) and kind is not type(None)]
    items = field_type(typing.get_args(lists[0])[0]) if lists else None
    return FieldType(tuple(words), tuple(kinds), items, type(None) in options)


def _check(value: Any, kind: Any) -> Any:
    """The value if it is of this kind (whole numbers pass as floats), else NO_FIT."""
    if kind in (int, float) and isinstance(value, bool):
        return NO_FIT
    if kind is float:
        return float(value) if isinstance(value, int | float) else NO_FIT
    return value if kind is Any or (isinstance(kind, type) and isinstance(value, kind)) else NO_FIT


def _read(value: Any, kind: Any) -> Any:
    """The value as this kind, from a text too, else NO_FIT."""
    if kind in (int, float):
        return _number(value, kind)
    if kind is bool:
        return value if isinstance(value, bool) else _YES_NO.get(str(value).lower(), NO_FIT)
    if kind is str:
        return str(value) if isinstance(value, str | Path) else NO_FIT
    if kind is Path:
        is_path = isinstance(value, str | Path) and str(value) and "\0" not in str(value)
        return expand_home(value) if is_path else NO_FIT
    return value


def _number(value: Any, kind: type) -> Any:
    """The value as a finite number, or a whole one, else NO_FIT; whole numbers keep every digit."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return NO_FIT
    if isinstance(value, bool) or not math.isfinite(number):
        return NO_FIT
    if kind is float:
        return number
    if number != int(number):
        return NO_FIT
    exact = not isinstance(value, float) and str(value).strip().lstrip("+-").isdigit()
    return int(value) if exact else int(number)
