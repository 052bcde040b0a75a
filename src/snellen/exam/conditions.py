"""Conditions on findings, for gates in CI: `accuracy > 0.9`, `cut_occlusion[fill=black, model=mine] >= 0.5`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError, unknown

if TYPE_CHECKING:
    from snellen.audits import Audit
    from snellen.exam.request import AuditRequest
    from snellen.exam.run import Run

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?:\[(?P<filters>.*)\])?\s*(?P<sign><=|>=|==|!=|<|>)\s*(?P<bound>\S+)\s*")


class RequirementFailed(Exception):
    """Findings did not meet what `require` demands; `run` holds them, `failures` says of each what failed."""

    def __init__(self, run: Run, failures: Sequence[str]) -> None:
        super().__init__("; ".join(failures))
        self.run = run
        self.failures = tuple(failures)


@dataclass(frozen=True)
class Condition:
    """A bound that every matching finding must keep."""

    text: str
    name: str
    filters: tuple[tuple[str, str], ...]
    sign: str
    bound: float

    def failures(self, findings: Sequence[Mapping[str, Any]]) -> list[str]:
        """What fails, in words; a condition that matches no finding is an error of the user's."""
        candidates = [one for one in findings if one["name"] == self.name]
        if not candidates:
            raise unknown("finding in --require", self.name, {str(one["name"]) for one in findings})
        matching = [one for one in candidates if all(_fact(one, key) == value for key, value in self.filters)]
        if not matching:
            raise UserError(f"no finding '{self.name}' has {', '.join('='.join(f) for f in self.filters)}")
        failed = []
        for one in matching:
            value = one["value"]
            if value is None or not OPERATORS[self.sign](value, self.bound):
                number = "not measured" if value is None else f"{value:.4g}"
                failed.append(f"{self.text}: {one['model']} has {self.name} {number}{_where(one)}")
        return failed


def parse_condition(text: str) -> Condition:
    """The condition a text states."""
    match = _CONDITION.fullmatch(text)
    example = "for example 'accuracy > 0.9' or 'cut_occlusion[fill=black] >= 0.5'"
    if match is None:
        raise UserError(f"'{text}' is not a condition; {example}")
    try:
        bound = float(match["bound"])
    except ValueError:
        raise UserError(f"'{text}' is not a condition: '{match['bound']}' is not a number; {example}") from None
    filters = []
    for part in (match["filters"] or "").split(","):
        key, equals, value = part.partition("=")
        if part.strip() and not equals:
            raise UserError(f"'{text}' is not a condition: expected key=value in the brackets, got '{part.strip()}'")
        if part.strip():
            filters.append((key.strip(), value.strip()))
    return Condition(text, match["name"], tuple(filters), match["sign"], bound)


def check_names(conditions: Sequence[Condition], request: AuditRequest) -> None:
    """Refuse a condition on a finding that none of the audits makes; those that do not list theirs may make any."""
    from snellen.audits import Baseline, default_audits, parse_audits

    if not conditions:
        return
    names = _findings_of([Baseline(), *parse_audits(request.audits)])
    if names is None or all(one.name in names for one in conditions):
        return
    if request.audits is None:  # the data decide on further audits
        from snellen.data import load_data

        assert request.data is not None
        data = load_data(request.data) if isinstance(request.data, str) else request.data
        names |= _findings_of([one for one, _ in default_audits(data)]) or set()
    for condition in conditions:
        if condition.name not in names:
            raise unknown("finding in --require", condition.name, names)


def _findings_of(audits: Sequence[Audit]) -> set[str] | None:
    """The names of the findings that audits make; None where one of them does not list its own."""
    listed = [one.names for one in audits]
    compared = {name for one in audits for name in one.compared}
    return None if None in listed else {"difference", *compared, *(name for names in listed for name in names or ())}


def _fact(one: Mapping[str, Any], key: str) -> str:
    value = one.get(key, one["facts"].get(key))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _where(one: Mapping[str, Any]) -> str:
    facts = [f"{key} {value}" for key, value in one["facts"].items() if isinstance(value, str | int | float)]
    return f" ({', '.join(facts[:3])})" if facts else ""
