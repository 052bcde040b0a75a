"""Conditions on findings, for gates in CI: `accuracy > 0.9`, `cut_occlusion[fill=black, model=mine] >= 0.5`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError, option, unknown

if TYPE_CHECKING:
    from snellen.audits import Audit
    from snellen.audits.stored_finding import StoredFinding
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

    def failures(self, findings: Sequence[StoredFinding[Any]]) -> list[str]:
        """What fails, in words; a condition that matches no finding is an error of the user's."""
        candidates = [finding for finding in findings if finding.name == self.name]
        if not candidates:
            raise unknown(f"finding in {option('require')}", self.name, {finding.name for finding in findings})
        matching = [
            finding for finding in candidates if all(_fact(finding, key) == value for key, value in self.filters)
        ]
        if not matching:
            raise UserError(f"no finding '{self.name}' has {', '.join('='.join(f) for f in self.filters)}")
        failed = []
        for finding in matching:
            value = finding.value
            if value is None or not OPERATORS[self.sign](value, self.bound):
                number = "not measured" if value is None else f"{value:.4g}"
                failed.append(f"{self.text}: {finding.model} has {self.name} {number}{_where(finding)}")
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
    from snellen.audits import BaselineAudit, default_audits, parse_audits

    if not conditions:
        return
    names = _findings_of([BaselineAudit(), *parse_audits(request.audits)])
    if names is None or all(condition.name in names for condition in conditions):
        return
    if request.audits is None:  # the data decide on further audits
        from snellen.data import as_data

        assert request.data is not None
        data = as_data(request.data)
        names |= _findings_of([audit for audit, _ in default_audits(data)]) or set()
    for condition in conditions:
        if condition.name not in names:
            raise unknown(f"finding in {option('require')}", condition.name, names)


def _findings_of(audits: Sequence[Audit]) -> set[str] | None:
    """The names of the findings that audits make; None where one of them does not list its own."""
    listed = [audit.names for audit in audits]
    compared = {name for audit in audits for name in audit.compared}
    return None if None in listed else {"difference", *compared, *(name for names in listed for name in names or ())}


def _fact(finding: StoredFinding[Any], key: str) -> str:
    """What a user names in brackets, as text: a field of the finding, such as its model, or one of its facts."""
    value = getattr(finding, key) if key in finding.__struct_fields__ else finding.plain_facts.get(key)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _where(finding: StoredFinding[Any]) -> str:
    facts = [f"{key} {value}" for key, value in finding.plain_facts.items() if isinstance(value, str | int | float)]
    return f" ({', '.join(facts[:3])})" if facts else ""
