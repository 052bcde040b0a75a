"""Which findings a condition is about, and the parts of a finding that it may name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.audits.stored_finding import StoredFinding
from snellen.check.condition import ANY, Condition
from snellen.errors import UserError, option, unknown

AnyFinding = StoredFinding[Any]
_TRUST = "di."


def matching(condition: Condition, findings: Sequence[AnyFinding]) -> list[AnyFinding]:
    """The findings that a condition is about; one that is about none is an error of the user's."""
    if condition.name == ANY:
        candidates = [finding for finding in findings if finding.interference is not None]
        if not candidates:
            raise UserError(f"'{condition.text}': no finding has a DI")
    else:
        candidates = [finding for finding in findings if finding.name == condition.name]
        if not candidates:
            raise unknown(f"finding in {option('require')}", condition.name, {finding.name for finding in findings})
    fitting = [f for f in candidates if all(_field(f, key) == value for key, value in condition.filters)]
    if not fitting:
        filters = ", ".join("=".join(pair) for pair in condition.filters)
        raise UserError(f"no finding '{condition.name}' has {filters}")
    return fitting


def attribute_of(finding: AnyFinding, attribute: str) -> object:
    """A part of a finding: a field such as `low`, a fact such as `p_corrected`, or of its DI such as `di.state`; None where it
    is not known. One that no finding has is an error of the user's."""
    if attribute.startswith(_TRUST):
        part = attribute.removeprefix(_TRUST)
        if finding.interference is None:
            return None
        names = (*finding.interference.__struct_fields__, "mark")
        if part not in names:
            raise unknown("attribute of the DI", part, names)
        return getattr(finding.interference, part)
    facts = finding.plain_facts
    if attribute not in finding.__struct_fields__ and attribute not in facts:
        raise unknown(f"attribute of '{finding.name}'", attribute, {"value", "low", "high", "n", "di.state", *facts})
    value = getattr(finding, attribute) if attribute in finding.__struct_fields__ else facts[attribute]
    if value is not None and not isinstance(value, bool | int | float | str):
        raise UserError(f"expected a number or a text as '{attribute}' of '{finding.name}', got a list of values")
    return value


def where(finding: AnyFinding) -> str:
    """A few facts that tell a finding from others of its name, such as `fill black, area 0.5`."""
    facts = [f"{key} {value}" for key, value in finding.plain_facts.items() if isinstance(value, str | int | float)]
    return ", ".join(facts[:3])


def _field(finding: AnyFinding, key: str) -> str:
    """What a user names in brackets, as text: a field of the finding, such as its model, or one of its facts."""
    value = getattr(finding, key) if key in finding.__struct_fields__ else finding.plain_facts.get(key)
    return f"{value:g}" if isinstance(value, float) else str(value)
