"""What an audit requires of its findings: names that are known before anything is asked, and what is raised in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.check.condition import ANY, Condition
from snellen.errors import UserError, option, unknown

if TYPE_CHECKING:
    from snellen.audits import Audit
    from snellen.exam.request import AuditRequest
    from snellen.exam.run import Run


class RequirementFailed(Exception):
    """Findings did not meet what `require` demands; `run` holds them, `failures` says of each what failed."""

    def __init__(self, run: Run, failures: Sequence[str]) -> None:
        super().__init__("; ".join(failures))
        self.run = run
        self.failures = tuple(failures)


def check_names(conditions: Sequence[Condition], request: AuditRequest) -> None:
    """Refuse a condition on a finding that none of the audits makes; those that do not list theirs may make any."""
    from snellen.audits import BaselineAudit, default_audits, parse_audits

    for condition in conditions:
        if condition.compares:
            raise UserError(f"'{condition.text}' compares with a baseline; use `snellen check RUN --baseline BASELINE`")
    conditions = [condition for condition in conditions if condition.name != ANY]
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
