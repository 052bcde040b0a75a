"""Conditions as text: `accuracy > 0.9`, `change(accuracy) >= -0.02`, `no_worse(accuracy)`, `di.state[fill=black] != above`.

A change is written as a call, so that one form serves all findings, with filters and bounds where a plain condition has them; in
`accuracy >= baseline - 0.02` the bound would be a formula. `no_worse` knows itself which way is worse.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from snellen.errors import UserError

Kind: TypeAlias = Literal["level", "change", "no_worse"]
OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
EXAMPLE = (
    "for example 'accuracy > 0.9', 'occluded_accuracy[fill=black].low >= 0.5', 'change(accuracy) >= -0.02' or "
    "'no_worse(accuracy)'"
)
ANY = "di"  # in place of a name: every finding that has a DI
_NAME = r"(?P<name>\w+)\s*(?P<early>(?:\.\w+)*)\s*(?:\[(?P<filters>.*)\])?\s*(?P<late>(?:\.\w+)*)"
_LEVEL = re.compile(rf"{_NAME}\s*(?P<sign><=|>=|==|!=|<|>)\s*(?P<bound>.+)")
_CHANGE = re.compile(rf"change\(\s*{_NAME}\s*\)\s*(?P<after>(?:\.\w+)*)\s*(?P<sign><=|>=|==|!=|<|>)\s*(?P<bound>.+)")
_NO_WORSE = re.compile(rf"no_worse\(\s*{_NAME}\s*(?:,\s*(?P<bound>[^,)]+))?\s*\)")
_POINT = re.compile(r"\s*point:\s*")


@dataclass(frozen=True)
class Condition:
    """What must hold of every finding that matches.

    `attribute` names a part of the finding that is held against the bound as it stands, such as `low` or `di.state`; empty for
    the finding's value, which its interval decides, unless `point` is asked for. The bound of `no_worse` is its margin, None for
    that of the gate.
    """

    text: str
    kind: Kind
    name: str
    attribute: str
    filters: tuple[tuple[str, str], ...]
    sign: str
    bound: float | str | None
    point: bool = False

    @property
    def compares(self) -> bool:
        """Whether it needs a baseline."""
        return self.kind != "level"

    @property
    def plain(self) -> bool:
        """Whether what is named is held against the bound as it stands, without a test."""
        return self.point or bool(self.attribute)

    def met_by(self, value: object) -> bool:
        """Whether a value as it stands keeps the bound."""
        if isinstance(value, bool | str) or isinstance(self.bound, str):
            same = _as_text(value) == _as_text(self.bound)
            return same if self.sign == "==" else not same
        assert isinstance(value, int | float)
        assert isinstance(self.bound, int | float)
        return OPERATORS[self.sign](value, self.bound)


def parse_condition(text: str) -> Condition:
    """The condition a text states.

    >>> from snellen.check import parse_condition
    >>> parse_condition("accuracy > 0.9")
    Condition(text='accuracy > 0.9', kind='level', name='accuracy', attribute='', filters=(), sign='>', bound=0.9, point=False)
    """
    rest = text[len(before[0]) :] if (before := _POINT.match(text)) else text
    point = before is not None
    rest = rest.strip()
    if match := _NO_WORSE.fullmatch(rest):
        bound = None if match["bound"] is None else _number(text, match["bound"])
        if bound is not None and not bound >= 0:
            raise UserError(f"'{text}' is not a condition: expected a margin of at least 0, got {bound:g}")
        if _attribute(text, match["early"], match["late"]):
            raise UserError(f"'{text}' is not a condition: no_worse(…) takes the name of a finding; {EXAMPLE}")
        return Condition(text, "no_worse", match["name"], "", _filters(text, match["filters"]), ">=", bound, point)
    kind: Kind = "change"
    match = _CHANGE.fullmatch(rest)
    if match is None:
        kind, match = "level", _LEVEL.fullmatch(rest)
    if match is None:
        raise UserError(f"'{text}' is not a condition; {EXAMPLE}")
    after = match["after"] if kind == "change" else ""
    if kind == "change" and (match["early"] or match["late"]):
        raise UserError(
            f"'{text}' is not a condition: write change({match['name']}).low, the attribute behind the call"
        )
    attribute = _attribute(text, match["early"], match["late"], after)
    name = match["name"]
    if kind == "level" and name == ANY and attribute:
        attribute = f"{ANY}.{attribute}"
    limit = _bound(text, attribute, match["bound"].strip())
    if isinstance(limit, str) and match["sign"] not in ("==", "!="):
        raise UserError(f"'{text}' is not a condition: text can only be == or !=; {EXAMPLE}")
    if kind == "change" and attribute not in ("", "low", "high"):
        raise UserError(f"'{text}' is not a condition: a change has .low and .high, not .{attribute}")
    return Condition(text, kind, name, attribute, _filters(text, match["filters"]), match["sign"], limit, point)


def _attribute(text: str, *parts: str) -> str:
    named = [part.removeprefix(".") for part in parts if part]
    if len(named) > 1:
        raise UserError(f"'{text}' is not a condition: it names two attributes, '{named[0]}' and '{named[1]}'")
    return named[0] if named else ""


def _bound(text: str, attribute: str, bound: str) -> float | str:
    """A number; of an attribute also text, which may stand in quotes."""
    try:
        return _number(text, bound)
    except UserError:
        if not attribute or re.search(r"[<>=!]", bound):
            raise
    return bound[1:-1] if len(bound) > 1 and bound[0] == bound[-1] and bound[0] in "'\"" else bound


def _number(text: str, bound: str) -> float:
    try:
        number = float(bound)
    except ValueError:
        raise UserError(f"'{text}' is not a condition: '{bound.strip()}' is not a number; {EXAMPLE}") from None
    if number != number:
        raise UserError(f"'{text}' is not a condition: '{bound.strip()}' is no bound; {EXAMPLE}")
    return number


def _filters(text: str, inside: str | None) -> tuple[tuple[str, str], ...]:
    filters = []
    for part in (inside or "").split(","):
        key, equals, value = part.partition("=")
        if part.strip() and not equals:
            raise UserError(f"'{text}' is not a condition: expected key=value in the brackets, got '{part.strip()}'")
        if part.strip():
            filters.append((key.strip(), value.strip()))
    return tuple(filters)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
