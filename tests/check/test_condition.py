"""Conditions as text: what they say, what they match, and how each wrong one is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from snellen.audits.facts import OpenFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.check.condition import OPERATORS, parse_condition
from snellen.check.deciding import decide
from snellen.check.matching import matching
from snellen.engine.keep.gate_record import OutcomeRecord
from snellen.errors import UserError

from ..report.stored import interference, stored


class Findings:
    """A run of nothing but findings, without samples."""

    models: dict[str, list[str]] = {"mine": ["0"]}  # noqa: RUF012

    def __init__(self, findings: Sequence[StoredFinding[Any]]) -> None:
        self.stored = list(findings)

    def listing(self, on: str) -> None:
        return None


def finding(value: float | None, name: str = "accuracy", half: float | None = 0.05, **facts: Any) -> StoredFinding[Any]:
    ends = (None, None) if value is None or half is None else (value - half, value + half)
    more = {key: facts.pop(key) for key in ("unit", "interference") if key in facts}
    numbers = {"value": value, "low": ends[0], "high": ends[1], "n": 100}
    return stored(OpenFacts(values=facts), name=name, model="mine", **numbers, **more)


def outcomes(text: str, *findings: StoredFinding[Any]) -> list[OutcomeRecord]:
    return decide([parse_condition(text)], Findings(findings)).outcomes  # type: ignore[arg-type]


def states(text: str, *findings: StoredFinding[Any]) -> list[str]:
    return [outcome.state for outcome in outcomes(text, *findings)]


@pytest.mark.parametrize("before", ["", "point: "])
@pytest.mark.parametrize("sign", OPERATORS)
def test_a_number_that_was_not_measured_fails_every_condition(sign: str, before: str) -> None:
    """A gate must not open because there was nothing to measure, whatever it asks."""
    (outcome,) = outcomes(f"{before}accuracy {sign} 0.5", finding(None))
    assert (outcome.state, outcome.text) == ("fails", "mine has accuracy not measured")


@pytest.mark.parametrize(
    ("sign", "holds"),
    [("<", "low"), ("<=", "low same"), (">", "high"), (">=", "same high"), ("==", "same"), ("!=", "low high")],
)
def test_a_point_is_held_against_the_bound_as_it_stands(sign: str, holds: str) -> None:
    values = {"low": 0.25, "same": 0.5, "high": 0.75}
    kept = [name for name, value in values.items() if states(f"point: accuracy{sign}0.5", finding(value)) == ["holds"]]
    assert kept == holds.split()


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("accuracy >= 0.45", "holds"), ("accuracy > 0.45", "undecided"), ("accuracy >= 0.46", "undecided"),
        ("accuracy >= 0.55", "undecided"), ("accuracy > 0.7", "fails"), ("accuracy <= 0.55", "holds"),
        ("accuracy < 0.55", "undecided"), ("accuracy < 0.3", "fails"), ("accuracy == 0.5", "undecided"),
        ("accuracy == 0.8", "fails"), ("accuracy != 0.5", "undecided"), ("accuracy != 0.8", "holds"),
    ],
)  # fmt: skip
def test_a_value_is_decided_by_its_whole_interval(text: str, state: str) -> None:
    """The interval is 0.45 to 0.55."""
    assert states(text, finding(0.5)) == [state]


def test_a_value_without_an_interval_is_undecided_but_a_count_is_itself() -> None:
    (outcome,) = outcomes("accuracy > 0.1", finding(0.5, half=None))
    assert outcome.state == "undecided"
    assert outcome.text.endswith("put 'point:' before the condition to hold the value itself against the bound")
    assert states("objects == 0", finding(0.0, "objects", half=None, unit="count")) == ["holds"]
    assert states("objects == 0", finding(3.0, "objects", half=None, unit="count")) == ["fails"]


@pytest.mark.parametrize("text", ["accuracy > 1", "accuracy >= 1.1", "accuracy < 0", "accuracy <= -0.1"])
def test_what_no_share_can_be_fails(text: str) -> None:
    for value in (0.0, 0.5, 1.0):
        assert states(text, stored(name="accuracy", model="mine", value=value, low=value, high=value, n=9)) == ["fails"]


def test_every_finding_that_matches_must_hold_and_others_are_not_asked() -> None:
    findings = [
        finding(0.9, fill="black", area=0.5),
        finding(0.3, fill="black", area=0.7),
        finding(0.1, fill="noise", area=0.5),
        finding(None, "other"),
    ]
    first, second = outcomes("accuracy[fill=black] > 0.5", *findings)
    assert (first.state, second.state) == ("holds", "fails")
    assert second.text.startswith("mine has accuracy 0.3, 95% interval 0.25 to 0.35 (fill black, area 0.7); p = ")
    assert states("accuracy[fill=black, area=0.5] > 0.5", *findings) == ["holds"]
    assert len(states("accuracy[model=mine] > 0.95", *findings)) == 3


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("accuracy.low >= 0.45", "holds"), ("accuracy.high < 0.5", "fails"), ("accuracy.n >= 100", "holds"),
        ("accuracy.p_corrected < 0.05", "holds"), ("accuracy[kind=a].low >= 0.4", "holds"),
        ("accuracy.low[kind=a] >= 0.4", "holds"), ("accuracy.kind == a", "holds"), ("accuracy.kind != 'a'", "fails"),
        ("accuracy.di.state != above", "holds"), ("accuracy.di.state == 'not above'", "holds"),
        ("di.state == not above", "holds"), ("di.flagged == false", "holds"), ("di.low > 1", "fails"),
    ],
)  # fmt: skip
def test_conditions_name_bounds_facts_and_trust(text: str, state: str) -> None:
    trust = interference(index=0.2, low=0.1, high=0.3, state="not above")
    assert states(text, finding(0.5, p_corrected=0.01, kind="a", interference=trust)) == [state]


def test_di_alone_is_about_every_finding_that_has_one() -> None:
    trust = interference(index=3.0, low=2.0, high=4.0, state="above", flagged=True)
    findings = [finding(0.5), finding(0.5, "squares", interference=trust)]
    assert [found.name for found in matching(parse_condition("di.state != above"), findings)] == ["squares"]
    with pytest.raises(UserError, match="no finding has a DI"):
        matching(parse_condition("di.state != above"), findings[:1])


@pytest.mark.parametrize(
    ("text", "kind", "name", "attribute", "bound"),
    [
        ("change(accuracy) >= -0.02", "change", "accuracy", "", -0.02),
        ("change(squares[fill=black]) > 0", "change", "squares", "", 0.0),
        ("change(accuracy).low >= -0.05", "change", "accuracy", "low", -0.05),
        ("no_worse(accuracy)", "no_worse", "accuracy", "", None),
        ("no_worse(squares[fill=black], 0.01)", "no_worse", "squares", "", 0.01),
        ("accuracy>1e-2", "level", "accuracy", "", 0.01),
    ],
)
def test_the_parts_of_a_condition(text: str, kind: str, name: str, attribute: str, bound: float | None) -> None:
    condition = parse_condition(text)
    assert (condition.kind, condition.name, condition.attribute, condition.bound) == (kind, name, attribute, bound)
    assert condition.text == text
    assert condition.filters == ((("fill", "black"),) if "[" in text else ())
    assert parse_condition(f"point: {text}").point


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("accuracy", "'accuracy' is not a condition; for example"),
        ("accuracy > high", "'high' is not a number"),
        ("accuracy > nan", "'nan' is no bound"),
        ("accuracy[fill] > 0", "expected key=value in the brackets, got 'fill'"),
        ("di.state > above", "text can only be == or !="),
        ("no_worse(accuracy, -1)", "expected a margin of at least 0, got -1"),
        ("no_worse(accuracy.low)", "no_worse(…) takes the name of a finding"),
        ("change(accuracy.low) > 0", "write change(accuracy).low"),
        ("change(accuracy).n > 0", "a change has .low and .high, not .n"),
        ("accuracy.low[fill=a].high > 0", "two attributes, 'low' and 'high'"),
    ],
)
def test_a_wrong_condition_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_condition(text)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acuracy > 0", "unknown finding in require 'acuracy'; did you mean 'accuracy'?"),
        ("accuracy[fill=pink] > 0", "no finding 'accuracy' has fill=pink"),
        ("accuracy.lw > 0", "unknown attribute of 'accuracy' 'lw'; did you mean 'low'?"),
        ("di.sate == above", "unknown attribute of the DI 'sate'; did you mean 'state'?"),
        ("accuracy.kind > 3", "'kind' is the text 'a', not a number"),
        ("accuracy.low == above", "'low' is the number 0.45, not a text"),
        ("no_worse(accuracy)", "'no_worse(accuracy)' needs a baseline"),
    ],
)
def test_a_condition_that_does_not_fit_the_findings_is_one_line(text: str, message: str) -> None:
    trust = interference(index=0.2, low=0.1, high=0.3, state="not above")
    with pytest.raises(UserError) as raised:
        outcomes(text, finding(0.5, kind="a", interference=trust))
    assert message in str(raised.value)


def test_failures_are_corrected_over_all_tests_and_what_holds_is_not() -> None:
    """An interval of 0.45 to 0.55 excludes 0.57 at 2.5%, not at a twentieth of it; 0.45 is held alone as among many."""
    assert states("accuracy >= 0.57", finding(0.5)) == ["fails"]
    conditions = [parse_condition(text) for text in ("accuracy >= 0.57", *["accuracy >= 0.45"] * 19)]
    record = decide(conditions, Findings([finding(0.5)]))  # type: ignore[arg-type]
    assert [outcome.state for outcome in record.outcomes] == ["undecided", *["holds"] * 19]
    assert record.tests == 20
    assert record.outcomes[0].p_corrected == pytest.approx(20 * (record.outcomes[0].p or 0))


def test_the_number_of_images_that_would_decide_grows_with_the_square_of_what_is_missing() -> None:
    near, far = outcomes("accuracy >= 0.49", finding(0.5))[0], outcomes("accuracy >= 0.47", finding(0.5))[0]
    assert near.needed is not None
    assert far.needed is not None
    assert near.needed / far.needed == pytest.approx(9, rel=0.05)
    on = outcomes("accuracy >= 0.5", finding(0.5))[0]
    assert on.needed is None
    assert on.text.endswith("it lies on the bound, so more images would not decide it")
