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
import inspect
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Union, Unpack

from snellen.errors import UserError, unknown
from snellen.files.plain import expand_home

_PLAIN: dict[Any, tuple[str, str]] = {  # type → how an error names it, how --help does
    bool: ("true or false", ""),
    int: ("a whole number", "N"),
    float: ("a number", "NUMBER"),
    str: ("a text", "TEXT"),
    Path: ("a path", "PATH"),
}
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


class Facts(TypedDict, total=False):
    """What else a setting may say: bounds of its number (`at_most` is one of its size, above which it must be a slip), its
    option where that is not its name (`--set` for `change`) and a second one, what stands for the value in --help, that commas
    separate the values of a list in one text, and that settings files leave it out, because repeating a command must not
    repeat it."""

    at_least: float | None
    at_most: float | None
    above: float | None
    below: float | None
    flag: str
    short: str
    metavar: str
    commas: bool
    once: bool


_NOTHING_ELSE = Facts(
    at_least=None, at_most=None, above=None, below=None, flag="", short="", metavar="", commas=False, once=False
)


def setting(help: str, default: Any = None, **facts: Unpack[Facts]) -> Any:
    """A field of a request: its help, its default and what else there is to say."""
    return field(default=default, metadata={"help": help, **_NOTHING_ELSE, **facts})


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A field of a request as users meet it. `kind` is its type without None: bool, int, float, str, Path, or object where
    Python may pass more than a text; `several` says that it is a list; `choices` are words with a meaning of their own, and
    the only values where `kind` is str."""

    name: str
    kind: type
    several: bool
    choices: tuple[str, ...]
    default: Any
    help: str
    flag: str
    short: str
    metavar: str
    at_least: float | None
    at_most: float | None
    above: float | None
    below: float | None
    commas: bool
    once: bool

    @property
    def wanted(self) -> str:
        """What a value must be, as an error says it."""
        kinds = [] if self.choices and self.kind is str else [self._bounded_kind]
        text = " or ".join([*self.choices, *kinds])
        if self.commas:
            return f"{text}, or several separated by commas"
        return f"{text} or a list of them" if self.several else text

    def fit(self, value: Any, where: str = "") -> Any:
        """The value in this setting's type; numbers may be texts, as a shell and YAML give them. None is the default."""
        if value is None:
            return self.default
        if self.several:
            values = value.split(",") if self.commas and isinstance(value, str) else value
            values = values if isinstance(values, list | tuple) else (values,)
            return tuple(self._fit_one(one, value, where) for one in values)
        return self._fit_one(value, value, where)

    def _fit_one(self, value: Any, whole: Any, where: str) -> Any:
        place = f"{where}: " if where else ""  # the file, where it is one
        if isinstance(value, bool) and {"on", "off"} <= set(self.choices):  # which YAML reads a bare on and off as
            value = "on" if value else "off"
        if isinstance(value, str) and value in self.choices:
            return value
        if isinstance(value, str) and self.choices and self.kind is str:
            raise UserError(f"{place}{unknown(self.name, value, self.choices)}")
        kind = str if where and self.kind is object else self.kind  # a file holds no Python objects
        result = None if self.choices and kind is str else _convert(value, kind)
        if result is None or not self._within(result):
            raise UserError(f"{place}expected {self.name} as {self.wanted}, got {_quoted(whole)}")
        if self.at_most is not None and abs(result) > self.at_most:
            raise UserError(f"{place}expected {self.name} of at most {self.at_most:,}, got {_quoted(whole)}")
        return result

    @property
    def _bounded_kind(self) -> str:
        name = "a text" if self.kind is object else _PLAIN[self.kind][0]
        bounds = [(self.at_least, "of at least"), (self.above, "above"), (self.below, "below")]
        return " ".join(
            [name, " and ".join(f"{words} {bound:g}" for bound, words in bounds if bound is not None)]
        ).strip()

    def _within(self, value: Any) -> bool:
        high_enough = (self.at_least is None or value >= self.at_least) and (self.above is None or value > self.above)
        return high_enough and (self.below is None or value < self.below)


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
        values = {one: getattr(self, one.name) for one in settings_of(type(self))}
        return {one.name: value for one, value in values.items() if is_given(value, one.default)}


def is_given(value: Any, default: Any = None) -> bool:
    """Whether a setting says more than its default; None never does."""
    return value is not None and not (type(value) is type(default) and bool(value == default))


def settings_of(cls: type[Request]) -> tuple[Setting, ...]:
    """The settings of a request, in the order they are declared."""
    hints = typing.get_type_hints(cls)
    return tuple(_setting(one, hints[one.name]) for one in dataclasses.fields(cls))


def signature_of(cls: type[Request], positional: Sequence[str] = ()) -> inspect.Signature:
    """The signature of a Python function that takes a request's settings, the named ones also by position."""
    settings = {one.name: one for one in settings_of(cls)}
    by_place = [_parameter(settings[name], inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in positional]
    by_name = [
        _parameter(one, inspect.Parameter.KEYWORD_ONLY) for name, one in settings.items() if name not in positional
    ]
    return inspect.Signature([*by_place, *by_name])


def describe(cls: type[Request]) -> str:
    """One line per setting, as a docstring lists them."""
    return "\n".join(f"    {one.name}: {one.help}" for one in settings_of(cls))


def _parameter(one: Setting, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(one.name, kind, default=one.default)


def _setting(one: dataclasses.Field[Any], hint: Any) -> Setting:
    options = [kind for kind in _options(hint) if kind is not type(None)]
    several = any(typing.get_origin(kind) is tuple for kind in options)
    if several:
        options = list(typing.get_args(next(kind for kind in options if typing.get_origin(kind) is tuple))[:1])
    literals = [kind for kind in options if typing.get_origin(kind) is Literal]
    choices = tuple(str(word) for kind in literals for word in typing.get_args(kind))
    others = [kind for kind in options if kind not in literals]
    kind = str if not others else others[0] if len(others) == 1 and others[0] in _PLAIN else object
    facts = dict(one.metadata)
    words = [*choices, *([_PLAIN[kind][1] if kind in _PLAIN else "TEXT"] if others else [])]
    facts["metavar"] = facts["metavar"] or "|".join(words)
    facts["flag"] = facts["flag"] or "--" + one.name.replace("_", "-")
    return Setting(name=one.name, kind=kind, several=several, choices=choices, default=one.default, **facts)


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
        return expand_home(value) if isinstance(value, str | Path) and str(value) and "\0" not in str(value) else None
    return _number(value, kind)


def _number(value: Any, kind: type) -> int | float | None:
    """The value as a finite number, or a whole one, or None; whole numbers keep every digit."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, bool) or not math.isfinite(number):
        return None
    if kind is float:
        return number
    if number != int(number):
        return None
    exact = not isinstance(value, float) and str(value).strip().lstrip("+-").isdigit()
    return int(value) if exact else int(number)


def _quoted(value: Any) -> str:
    return f"'{value[:40]}'" if isinstance(value, str) else repr(value)[:40]
