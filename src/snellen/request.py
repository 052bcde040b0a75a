"""Requests: every setting declared once, with its type and help, for the command line, settings files and Python.

A request is a frozen dataclass that derives from `Request` and whose fields are made by `setting`:

>>> @dataclass(frozen=True, kw_only=True)
... class Copy(Request):
...     times: int | None = setting("number of copies", at_least=1)
>>> Copy.read({"times": "3"}).times
3
>>> Copy(times=0)
Traceback (most recent call last):
snellen.errors.UserError: expected times as a whole number of at least 1, got 0
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, Union

from snellen.errors import UserError, unknown

_PLAIN: dict[Any, tuple[str, str]] = {  # type → how an error names it, how --help does
    bool: ("true or false", ""),
    int: ("a whole number", "N"),
    float: ("a number", "NUMBER"),
    str: ("a text", "TEXT"),
    Path: ("a path", "PATH"),
}
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


def setting(
    help: str,
    default: Any = None,
    *,
    at_least: float | None = None,
    above: float | None = None,
    flag: str = "",
    metavar: str = "",
) -> Any:
    """A field of a request. `flag` is its option where that is not its name (`--set` for `change`); `at_least` and `above`
    bound numbers; `metavar` stands for the value in --help."""
    facts = {"help": help, "at_least": at_least, "above": above, "flag": flag, "metavar": metavar}
    return field(default=default, metadata=facts)


@dataclass(frozen=True)
class Setting:
    """A field of a request as users meet it. `kind` is its type without None: bool, int, float, str, Path, or object where
    Python may pass more than a text; `several` says that it is a list; `choices` are the only values, if they are fixed."""

    name: str
    kind: type
    several: bool
    choices: tuple[str, ...]
    default: Any
    help: str
    flag: str
    metavar: str
    at_least: float | None
    above: float | None

    @property
    def wanted(self) -> str:
        """What a value must be, as an error says it."""
        if self.choices:
            return " or ".join(self.choices)
        name = "a text" if self.kind is object else _PLAIN[self.kind][0]
        if self.at_least is not None:
            name += f" of at least {self.at_least:g}"
        if self.above is not None:
            name += f" above {self.above:g}"
        return f"{name} or a list of them" if self.several else name

    def fit(self, value: Any, where: str = "") -> Any:
        """The value in this setting's type; numbers may be texts, as a shell and YAML give them. None stays None."""
        if value is None:
            return self.default if self.kind is bool else None
        if self.several:
            values = value if isinstance(value, list | tuple) else (value,)
            return tuple(self._fit_one(one, value, where) for one in values)
        return self._fit_one(value, value, where)

    def _fit_one(self, value: Any, whole: Any, where: str) -> Any:
        fitted = _convert(value, str if where and self.kind is object else self.kind)  # a file holds no Python objects
        if fitted is None or (self.choices and fitted not in self.choices) or not self._within(fitted):
            place = f"{where}: " if where else ""  # the file, where it is one
            raise UserError(f"{place}expected {self.name} as {self.wanted}, got {_quoted(whole)}")
        return fitted

    def _within(self, value: Any) -> bool:
        high_enough = self.at_least is None or value >= self.at_least
        return high_enough and (self.above is None or value > self.above)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command is asked to do; every value is checked when a request is made, wherever it comes from."""

    def __post_init__(self) -> None:
        for one in settings_of(type(self)):
            object.__setattr__(self, one.name, one.fit(getattr(self, one.name)))

    @classmethod
    def read(cls, values: Mapping[str, Any], where: str = "") -> Self:
        """The request of settings by name; `where` they come from is named in errors."""
        return cls(**cls.checked(values, where))

    @classmethod
    def checked(cls, values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
        """The same settings, each of its type; a name that does not exist or a value that does not fit is refused."""
        known = {one.name: one for one in settings_of(cls)}
        for name in values:
            if name not in known:
                raise unknown(f"setting in {where}" if where else "setting", name, known)
        return {name: known[name].fit(value, where) for name, value in values.items()}

    def chosen(self) -> dict[str, Any]:
        """The settings that differ from their defaults, in the order they are declared."""
        values = {one.name: getattr(self, one.name) for one in settings_of(type(self))}
        return {
            one.name: values[one.name] for one in settings_of(type(self)) if is_given(values[one.name], one.default)
        }


def is_given(value: Any, default: Any = None) -> bool:
    """Whether a setting says more than its default."""
    return not (value is None or (isinstance(value, tuple | list) and not value) or _same(value, default))


def settings_of(cls: type[Request]) -> tuple[Setting, ...]:
    """The settings of a request, in the order they are declared."""
    hints = typing.get_type_hints(cls)
    return tuple(_setting(one, hints[one.name]) for one in dataclasses.fields(cls))


def _setting(one: dataclasses.Field[Any], hint: Any) -> Setting:
    options = [kind for kind in _options(hint) if kind is not type(None)]
    several = any(typing.get_origin(kind) is tuple for kind in options)
    if several:
        options = list(typing.get_args(next(kind for kind in options if typing.get_origin(kind) is tuple))[:1])
    literal = typing.get_origin(options[0]) is Literal
    choices = tuple(map(str, typing.get_args(options[0]))) if literal else ()
    kind = str if literal else options[0] if len(options) == 1 and options[0] in _PLAIN else object
    facts = one.metadata
    metavar = facts["metavar"] or ("|".join(choices) if choices else _PLAIN.get(kind, ("", "TEXT"))[1])
    return Setting(
        name=one.name, kind=kind, several=several, choices=choices, default=one.default, help=facts["help"],
        flag=facts["flag"] or "--" + one.name.replace("_", "-"), metavar=metavar, at_least=facts["at_least"],
        above=facts["above"],
    )  # fmt: skip


def _options(hint: Any) -> Sequence[Any]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)


def _convert(value: Any, kind: type) -> Any:
    """The value as this kind, or None where it is none."""
    if kind is object:
        return value
    if kind is bool:
        return value if isinstance(value, bool) else _YES_NO.get(str(value).lower())
    if kind is str:
        return str(value) if isinstance(value, str | Path) else None
    if kind is Path:
        return Path(value) if isinstance(value, str | Path) and str(value) else None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, bool) or math.isnan(number) or (kind is int and (math.isinf(number) or number != int(number))):
        return None
    return (
        int(value)
        if kind is int and not isinstance(value, float) and str(value).lstrip("+-").isdigit()
        else kind(number)
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _quoted(value: Any) -> str:
    return f"'{value[:40]}'" if isinstance(value, str) else repr(value)[:40]
