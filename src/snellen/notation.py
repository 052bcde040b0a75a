"""The text language: `name(1, key=value)` calls, chained with `|`, in lists `[a, b]`.

Distortions, laws and audits are all written in it. Reading gives plain nodes; `build` makes objects of them from a
table of dataclasses and checks every argument against the field's type. Nothing is evaluated.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from snellen.errors import UserError, unknown
from snellen.fitting import NAMES, NO_FIT, FieldType, field_type

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<word>[A-Za-z_][\w.-]*)"
    r"|'(?P<quoted>[^'\x00-\x1f]*)'"
    r"|(?P<mark>[()\[\],=|]))"
)
_CONSTANTS = {"true": True, "false": False, "none": None}
_DEEPEST = 20
_KIND = re.compile(r"(?<=[a-z0-9])(Audit|Observer)$")  # what tells `ShapeAudit` and `ShapeObserver` apart is in no text


@dataclass(frozen=True)
class Call:
    """`name(positional, key=named)` as read; `name` alone is a word, not a call."""

    name: str
    positional: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Pipe:
    """`a | b | c` as read."""

    parts: tuple[Any, ...]


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None or match.lastgroup is None:
                while stripped[position].isspace():
                    position += 1
                raise UserError(f"cannot read {text!r}: unexpected '{stripped[position]}' at position {position + 1}")
            self.tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            position = match.end()

    def peek(self) -> str:
        kind, value, _ = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", 0)
        return value if kind == "mark" else kind

    def take(self, wanted: str) -> str:
        got = self.peek()
        if got != wanted:
            where = f"at position {self.tokens[self.at][2] + 1}" if self.at < len(self.tokens) else "at the end"
            token = f"'{self.tokens[self.at][1]}'" if self.at < len(self.tokens) else "nothing"
            raise UserError(f"cannot read {self.text!r}: expected '{wanted}' {where}, got {token}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def pipe(self, depth: int = 0) -> Any:
        parts = [self.value(depth)]
        while self.peek() == "|":
            self.take("|")
            parts.append(self.value(depth))
        return parts[0] if len(parts) == 1 else Pipe(tuple(parts))

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise UserError(f"cannot read {self.text[:60]!r}…: nested more than {_DEEPEST} deep")
        kind = self.peek()
        if kind == "number":
            digits = self.take("number")
            return int(digits) if re.fullmatch(r"[-+]?\d{1,18}", digits) else float(digits)
        if kind == "quoted":
            return self.take("quoted")
        if kind == "[":
            self.take("[")
            return tuple(self.until("]", lambda: self.pipe(depth + 1)))
        name = self.take("word")
        if self.peek() != "(":
            return _CONSTANTS.get(name, name)
        self.take("(")
        positional: list[Any] = []
        named: list[tuple[str, Any]] = []
        for key, value in self.until(")", lambda: self.argument(depth + 1)):
            if key:
                named.append((key, value))
            elif named:
                raise UserError(f"cannot read {self.text!r}: an argument without a name follows '{named[-1][0]}='")
            else:
                positional.append(value)
        return Call(name, tuple(positional), tuple(named))

    def argument(self, depth: int) -> tuple[str, Any]:
        if self.peek() == "word" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][1] == "=":
            key = self.take("word")
            self.take("=")
            return key, self.pipe(depth)
        return "", self.pipe(depth)

    def until(self, end: str, item: Callable[[], Any]) -> list[Any]:
        items = []
        while self.peek() != end:
            items.append(item())
            if self.peek() != end:
                self.take(",")
        self.take(end)
        return items


def read(text: str) -> Any:
    """The nodes of one text: a Call, a Pipe, a tuple, a number, a truth value, None or a word."""
    reader = _Reader(text)
    node = reader.pipe()
    if reader.peek() != "end":
        reader.take("end")
    return node


def read_list(text: str) -> list[Any]:
    """The nodes of a comma-separated list such as `occlusion,interference(grid=4)`."""
    reader = _Reader(text)
    nodes = [reader.pipe()]
    while reader.peek() == ",":
        reader.take(",")
        nodes.append(reader.pipe())
    if reader.peek() != "end":
        reader.take("end")
    return nodes


def build(node: Any, table: Mapping[str, type], kind: str, value: Callable[[Any], Any] = lambda node: node) -> Any:
    """The object that a Call (or a bare word) names in `table`; `value` makes objects of nested nodes."""
    if isinstance(node, str):
        node = Call(node)
    if node is None:
        node = Call("none")
    if not isinstance(node, Call):
        raise UserError(f"expected a {kind} such as '{next(iter(table))}(…)', got {node!r}")
    if node.name not in table:
        raise unknown(kind, node.name, table)
    cls = table[node.name]
    fields = _fields(cls)
    if len(node.positional) > len(fields):
        raise UserError(
            f"{node.name} takes at most {len(fields)} arguments ({', '.join(fields)}), got {len(node.positional)}"
        )
    arguments = dict(zip(fields, node.positional))
    for key, item in node.named:
        if key not in fields:
            raise unknown(f"argument of {node.name}", key, fields)
        if key in arguments:
            raise UserError(f"{node.name} got '{key}' twice")
        arguments[key] = item
    values = {key: _fit(node.name, key, value(item), fields[key]) for key, item in arguments.items()}
    missing = [f.name for f in dataclasses.fields(cls) if f.name not in values and _required(f)]
    if missing:
        raise UserError(f"{node.name} needs '{missing[0]}'; for example {node.name}({missing[0]}=…)")
    try:
        return cls(**values)
    except ValueError as error:
        raise UserError(f"{node.name}: {error}") from None


def name_in(node: Any) -> str:
    """The name that a node calls; empty where it calls none."""
    return node.name if isinstance(node, Call) else node if isinstance(node, str) else ""


def text_form(thing: Any) -> str:
    """The text of a dataclass in the language: all its fields, by name, parsing back to the same object."""
    fields = ", ".join(f"{f.name}={format_value(getattr(thing, f.name))}" for f in dataclasses.fields(thing))
    return f"{name_of(type(thing))}({fields})"


def name_of(cls: type) -> str:
    """The name of a class in the language: `CutoutObject` is `cutout_object`, `ShapeAudit` is `shape`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", _KIND.sub("", cls.__name__)).lower()


def format_value(value: Any) -> str:
    """One argument as text; a whole float prints without its point, so 1 and 1.0 are one identity."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(format_value, value)) + "]"
    if isinstance(value, str) and (value in _CONSTANTS or not re.fullmatch(r"[A-Za-z_][\w.-]*", value)):
        return f"'{value}'"
    return str(value)


def expect_at_most(most: float, **values: float) -> None:
    """Raise unless every value is a number of no more than `most`, above which it must be a slip."""
    for name, value in values.items():
        if not value <= most:
            raise ValueError(f"expected {name} of at most {most:,}, got {format_value(value)}")


@functools.cache
def field_types(cls: type) -> dict[str, Any]:
    """Field name → type of a dataclass, in order."""
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


@functools.cache
def _fields(cls: type) -> dict[str, FieldType]:
    return {name: field_type(hint) for name, hint in field_types(cls).items()}


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _fit(call: str, key: str, value: Any, wanted: FieldType) -> Any:
    """`value` if it is of the wanted type (whole numbers pass as floats), else an error that names both."""
    if wanted.items is not None and isinstance(value, tuple):
        return tuple(_fit(call, key, item, wanted.items) for item in value)
    result = wanted.fit(value)
    if result is not NO_FIT:
        return result
    if wanted.words and isinstance(value, str):
        raise unknown(f"{key} of {call}", value, wanted.words)
    raise UserError(f"{call}: expected {key} to be {_describe(wanted)}, got {format_value(value)!r}")


def _describe(wanted: FieldType) -> str:
    names = {**NAMES, str: "a word"}
    words = ["one of " + ", ".join(wanted.words)] if wanted.words else []
    words += [names.get(kind) or _kind_in_words(kind) for kind in wanted.kinds]
    words += ["a list [a, b, …]"] * (wanted.items is not None) + ["none"] * wanted.optional
    return " or ".join(words)


def _kind_in_words(kind: Any) -> str:
    return f"a {name_of(kind).replace('_', ' ')}" if isinstance(kind, type) else str(kind)
