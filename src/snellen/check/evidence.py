"""What is known about one finding under one condition, before it is known how many others are tested beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

import numpy as np

from snellen.check.condition import Condition
from snellen.check.matching import AnyFinding, where
from snellen.engine.keep.gate_record import State
from snellen.measure.bound_test import BoundTest, interval_test, share_test, units_to_decide, worth_images
from snellen.measure.estimate import NO_DATA, Estimate
from snellen.measure.few_units import degrees_of, sizes_of, student

UNKNOWN = BoundTest(nan, nan)


@dataclass(frozen=True, kw_only=True)
class GateEvidence:
    """A number with its interval, the bound it is held against and the tests of that.

    `settled` is the state where no test is needed, or possible, and `reason` says why. `error` is the standard error towards the
    bound; `drop` gives the smallest change that would be seen among so many tests. `words` say what was measured.
    """

    condition: Condition
    finding: AnyFinding
    words: str
    estimate: Estimate = NO_DATA
    bound: float = nan
    sign: str = ">="
    test: BoundTest = UNKNOWN
    error: float = nan
    settled: State | None = None
    reason: str = ""
    paired: bool | None = None
    drop: Callable[[int], float] | None = None

    @property
    def right(self) -> bool:
        """Whether the interval lies wholly where it should and, of a change, the test agrees."""
        low, high, bound = self.estimate.low, self.estimate.high, self.bound
        if isnan(low) or isnan(high):
            return False
        keeps = {">=": low >= bound, ">": low > bound, "<=": high <= bound, "<": high < bound}
        keeps |= {"==": low == high == bound, "!=": bound < low or bound > high}
        return keeps[self.sign]

    @property
    def wrong(self) -> bool:
        """Whether the interval lies wholly where it should not."""
        low, high, bound = self.estimate.low, self.estimate.high, self.bound
        if isnan(low) or isnan(high):
            return False
        lost = {">=": high < bound, ">": high <= bound, "<=": low > bound, "<": low >= bound}
        lost |= {"==": bound < low or bound > high, "!=": low == high == bound}
        return lost[self.sign]

    @property
    def p_right(self) -> float:
        """The one-sided p-value that the condition holds."""
        return self._p(holds=True)

    @property
    def p_wrong(self) -> float:
        """The one-sided p-value that it fails."""
        return self._p(holds=False)

    def _p(self, *, holds: bool) -> float:
        if self.sign == "!=" or self.sign == "==":
            apart = min(self.test.below, self.test.above)
            return apart if (self.sign == "!=") == holds else float(not (self.right if holds else self.wrong))
        return self.test.above if (self.sign in (">", ">=")) == holds else self.test.below

    def needed(self, tests: int) -> float:
        """How many images would decide it; a failure among so many tests, while to hold needs no correction."""
        away = self.estimate.value - self.bound
        beyond = away < 0 if self.sign in (">", ">=") else away > 0
        return units_to_decide(away, self.error, self.estimate.n, tests if beyond else 1)


def settled(condition: Condition, finding: AnyFinding, words: str, state: State, reason: str = "") -> GateEvidence:
    """What needs no test."""
    return GateEvidence(condition=condition, finding=finding, words=words, settled=state, reason=reason)


def estimate_of(value: float | None, low: float | None, high: float | None, n: int) -> Estimate:
    """Numbers as findings.json has them, null for nan."""
    first, second, third = (nan if number is None else number for number in (value, low, high))
    return Estimate(first, second, third, n)


def level_evidence(condition: Condition, finding: AnyFinding, groups: np.ndarray | None) -> GateEvidence:
    """A finding's value against a bound; `groups` are those of the samples of its role."""
    assert isinstance(condition.bound, float)
    estimate, bound = estimate_of(finding.value, finding.low, finding.high, finding.n), condition.bound
    words = f"{finding.model} has {finding.name} {in_words(estimate)}{behind(finding)}"
    if finding.unit == "count" or condition.point:
        return settled(condition, finding, words, "holds" if condition.met_by(estimate.value) else "fails")
    if finding.unit == "share" and _never(condition.sign, bound):
        return settled(condition, finding, words, "fails", "a share is never that")
    if isnan(estimate.low) or isnan(estimate.high):
        reason = "it has no interval; put 'point:' before the condition to hold the value itself against the bound"
        return settled(condition, finding, words, "undecided", reason)
    degrees = degrees_in(groups, estimate.n)
    share = finding.unit == "share" and 0 <= estimate.low <= estimate.high <= 1
    return GateEvidence(
        condition=condition,
        finding=finding,
        words=words,
        estimate=estimate,
        bound=bound,
        sign=condition.sign,
        test=share_test(estimate, bound) if share else interval_test(estimate, bound, degrees),
        error=_share_error(estimate, bound) if share else error_towards(estimate, bound, degrees),
    )


def _never(sign: str, bound: float) -> bool:
    """Whether no share keeps a bound: such as one above 1."""
    return (
        (bound >= 1 and sign == ">")
        or (bound > 1 and sign == ">=")
        or (bound <= 0 and sign == "<")
        or (bound < 0 and sign == "<=")
    )


def degrees_in(groups: np.ndarray | None, n: int) -> float:
    """The degrees of freedom of a mean over so many samples, or over groups."""
    degrees = degrees_of(sizes_of(groups, n)) if groups is not None or n > 1 else nan
    return inf if isnan(degrees) else degrees


def error_towards(estimate: Estimate, bound: float, degrees: float) -> float:
    """The standard error by the end of the interval that lies towards the bound."""
    end = estimate.low if estimate.value > bound else estimate.high
    return abs(estimate.value - end) / student(degrees)


def in_words(estimate: Estimate) -> str:
    """`0.93, 95% interval 0.91 to 0.95`."""
    if isnan(estimate.value):
        return "not measured"
    if isnan(estimate.low) or isnan(estimate.high):
        return f"{estimate.value:.4g}"
    return f"{estimate.value:.4g}, 95% interval {estimate.low:.4g} to {estimate.high:.4g}"


def _share_error(estimate: Estimate, bound: float) -> float:
    """The standard error of a share as wide as at the bound: one of 1 seems to have none."""
    spread = max(share * (1 - share) for share in (estimate.value, min(max(bound, 0.0), 1.0)))
    worth = worth_images(estimate)
    return sqrt(spread / worth) if worth > 0 else nan


def behind(finding: AnyFinding) -> str:
    """What tells a finding from others of its name, in brackets."""
    facts = where(finding)
    return f" ({facts})" if facts else ""
