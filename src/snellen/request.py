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
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from snellen.errors import UserError, option, unknown
from snellen.files.plain import check_local
from snellen.fitting import NAMES, NO_FIT, FieldType, field_type

PLUGIN_HELP = (
    "Python file with models, data, distortions or audits of your own, which is run; may be given several times"
)
_METAVARS: dict[Any, str] = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


class Facts(TypedDict, total=False):
    """What else a setting may say: bounds of its number (`at_most` without a lower one is of its size, above which it must be a
    slip), its option where that is not its name (`--set` for `change`; `--resized/--native` names both of a truth value) and a
    second one, what stands for the value in --help, that commas separate the values of a list in one text, that it must be
    given, that settings files leave it out, because repeating a command must not repeat it, and that it is written to, so that no
    address will do."""

    at_least: float | None
    at_most: float | None
    above: float | None
    below: float | None
    flag: str
    short: str
    metavar: str
    commas: bool
    required: bool
    once: bool
    written: bool


_NOTHING_ELSE = Facts(
    at_least=None, at_most=None, above=None, below=None, flag="", short="", metavar="", commas=False, required=False, once=False,
    written=False,
)  # fmt: skip


def setting(help: str, default: Any = None, **facts: Unpack[Facts]) -> Any:
    """A field of a request: its help, its default and what else there is to say."""
    return field(default=default, metadata={"help": help, **_NOTHING_ELSE, **facts})


def plugin_setting() -> Any:
    """The field `plugins` of a request whose models, data, distortions or audits may be those of plug-ins."""
    return setting(PLUGIN_HELP, (), flag="--plugin", metavar="FILE.py")


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
    required: bool
    once: bool
    written: bool

    @property
    def wanted(self) -> str:
        """What a value must be, as an error says it."""
        kinds = [] if self.choices and self.kind is str else [self._bounded_kind]
        text = " or ".join([*self.choices, *kinds])
        if self.commas:
            return f"{text}, or several separated by commas"
        return f"{text} or a list of them" if self.several else text

    @property
    def label(self) -> str:
        """Its name as its caller writes it: an option, or a name in Python."""
        return option(self.name, self.flag.partition("/")[0])

    def fit(self, value: Any, where: str = "") -> Any:
        """The value in this setting's type; numbers may be texts, as a shell and YAML give them. None is the default."""
        if value is None:
            return self.default
        if self.several:
            values = _parts(value) if self.commas and isinstance(value, str) else value
            values = values if isinstance(values, list | tuple) else (values,)
            return tuple(self._fit_one(part, value, where) for part in values)
        return self._fit_one(value, value, where)

    def _fit_one(self, value: Any, whole: Any, where: str) -> Any:
        place, label = (f"{where}: ", self.name) if where else ("", self.label)  # the file, where it is one
        if isinstance(value, bool) and {"on", "off"} <= set(self.choices):  # which YAML reads a bare on and off as
            value = "on" if value else "off"
        if isinstance(value, str) and value not in self.choices and self.choices and self.kind is str:
            raise UserError(f"{place}{unknown(self.name, value, self.choices)}")
        kind = str if where and self.kind is object else self.kind  # a file holds no Python objects
        kinds = () if self.choices and kind is str else (kind,)
        result = FieldType(self.choices, kinds, None, False).fit(value, texts=True)
        if result is NO_FIT:
            raise UserError(f"{place}expected {label} as {self.wanted}, got {_quoted(whole)}")
        if self.written:
            check_local(result, f"{place}{label}")
        if not self._within(result):
            wanted = f"as {self.wanted}" if self.at_most is None else self._range
            raise UserError(f"{place}expected {label} {wanted}, got {_quoted(whole)}")
        return result

    @property
    def _bounded_kind(self) -> str:
        name = NAMES.get(self.kind, "a text")
        bounds = [(self.at_least, "of at least"), (self.above, "above"), (self.below, "below")]
        return " ".join(
            [name, " and ".join(f"{words} {bound:g}" for bound, words in bounds if bound is not None)]
        ).strip()

    @property
    def _range(self) -> str:
        """From where to where a number may go."""
        high = f"{self.at_most:,}"
        if self.at_least is not None:
            return f"from {self.at_least:,} to {high}"
        return f"of at most {high}" if self.above is None else f"above {self.above:,}, up to {high}"

    def _within(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        lowest = self.at_least if self.at_least is not None else self.above
        size = abs(value) if lowest is None else value
        high_enough = (self.at_least is None or value >= self.at_least) and (self.above is None or value > self.above)
        return (
            high_enough
            and (self.below is None or value < self.below)
            and (self.at_most is None or size <= self.at_most)
        )


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command is asked to do; every value is checked when a request is made, wherever it comes from.

    Files of plug-ins that it names (`plugin_setting`) are loaded first, since other settings may name what they offer.
    """

    def __post_init__(self) -> None:
        for item in settings_of(type(self)):
            value = item.fit(getattr(self, item.name))
            if item.required and (value is None or value == ""):
                raise UserError(f"{item.label} is required: {item.help}")
            object.__setattr__(self, item.name, value)
        if plugins := getattr(self, "plugins", ()):
            from snellen.plugins import load_plugins  # not above: --help lists these settings and should be fast

            load_plugins(plugins)

    @classmethod
    def read(cls, values: Mapping[str, Any], where: str = "") -> Self:
        """The request of settings by name; `where` they come from is named in errors."""
        return cls(**cls.checked(values, where))

    @classmethod
    def checked(cls, values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
        """The same settings, each of its type; a name that does not exist or a value that does not fit is refused."""
        known = {item.name: item for item in settings_of(cls)}
        for name in values:
            if name not in known:
                raise unknown(f"setting in {where}" if where else "setting", name, known)
        return {name: known[name].fit(value, where) for name, value in values.items()}

    def chosen(self) -> dict[str, Any]:
        """The settings that differ from their defaults, in the order they are declared."""
        values = {item: getattr(self, item.name) for item in settings_of(type(self))}
        return {item.name: value for item, value in values.items() if is_given(value, item.default)}


def is_given(value: Any, default: Any = None) -> bool:
    """Whether a setting says more than its default; None never does."""
    return value is not None and not (type(value) is type(default) and bool(value == default))


def settings_of(cls: type[Request]) -> tuple[Setting, ...]:
    """The settings of a request, in the order they are declared."""
    hints = typing.get_type_hints(cls)
    return tuple(_setting(declared, hints[declared.name]) for declared in dataclasses.fields(cls))


def signature_of(cls: type[Request], positional: Sequence[str] = ()) -> inspect.Signature:
    """The signature of a Python function that takes a request's settings, the named ones also by position."""
    settings = {item.name: item for item in settings_of(cls)}
    by_place = [_parameter(settings[name], inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in positional]
    by_name = [
        _parameter(item, inspect.Parameter.KEYWORD_ONLY) for name, item in settings.items() if name not in positional
    ]
    return inspect.Signature([*by_place, *by_name])


def describe(cls: type[Request]) -> str:
    """One line per setting, as a docstring lists them."""
    return "\n".join(f"    {item.name}: {item.help}" for item in settings_of(cls))


def _parameter(item: Setting, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(item.name, kind, default=item.default)


def _setting(declared: dataclasses.Field[Any], hint: Any) -> Setting:
    own = field_type(hint)
    several = own.items is not None
    own = own.items or own
    kind = str if not own.kinds else own.kinds[0] if len(own.kinds) == 1 and own.kinds[0] in _METAVARS else object
    facts = dict(declared.metadata)
    words = [*own.words, *([_METAVARS.get(kind, "TEXT")] if own.kinds else [])]
    facts["metavar"] = facts["metavar"] or "|".join(words)
    facts["flag"] = facts["flag"] or "--" + declared.name.replace("_", "-")
    return Setting(name=declared.name, kind=kind, several=several, choices=own.words, default=declared.default, **facts)


def _parts(text: str) -> list[str]:
    """The values of a text in which commas separate them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _quoted(value: Any) -> str:
    return f"'{value[:40]}'" if isinstance(value, str) else repr(value)[:40]
