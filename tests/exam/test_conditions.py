"""Conditions on findings: what holds, what fails, and that nothing holds of what was not measured."""

from __future__ import annotations

from typing import Any

import pytest

from snellen.audits.facts import OpenFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.exam.conditions import OPERATORS, parse_condition

from ..report.stored import stored


def found(value: float | None, name: str = "accuracy", **facts: Any) -> StoredFinding[OpenFacts]:
    return stored(OpenFacts(values=facts), name=name, model="mine", value=value)


@pytest.mark.parametrize("sign", OPERATORS)
def test_a_number_that_was_not_measured_fails_every_condition(sign: str) -> None:
    """A gate must not open because there was nothing to measure, whatever it asks."""
    (failure,) = parse_condition(f"accuracy {sign} 0.5").failures([found(None)])
    assert failure == f"accuracy {sign} 0.5: mine has accuracy not measured"


@pytest.mark.parametrize(
    ("sign", "holds"),
    [("<", "low"), ("<=", "low same"), (">", "high"), (">=", "same high"), ("==", "same"), ("!=", "low high")],
)
def test_each_sign_holds_on_its_side_of_the_bound(sign: str, holds: str) -> None:
    values = {"low": 0.25, "same": 0.5, "high": 0.75}
    condition = parse_condition(f"accuracy{sign}0.5")
    assert [name for name, value in values.items() if not condition.failures([found(value)])] == holds.split()


def test_every_finding_that_matches_must_hold_and_others_are_not_asked() -> None:
    findings = [
        found(0.9, fill="black", area=0.5),
        found(0.4, fill="black", area=0.7),
        found(0.1, fill="noise", area=0.5),
        found(None, "other"),
    ]
    (failure,) = parse_condition("accuracy[fill=black] > 0.5").failures(findings)
    assert failure == "accuracy[fill=black] > 0.5: mine has accuracy 0.4 (fill black, area 0.7)"
    assert not parse_condition("accuracy[fill=black, area=0.5] > 0.5").failures(findings)
    assert len(parse_condition("accuracy[model=mine] > 0.95").failures(findings)) == 3
