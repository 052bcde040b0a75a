"""What is known about changes: the same question in the run and in its baseline, paired image by image where that can be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import isnan, sqrt

import numpy as np

from snellen.check.condition import Condition
from snellen.check.evidence import GateEvidence, behind, degrees_in, error_towards, estimate_of, in_words, settled
from snellen.check.matching import AnyFinding
from snellen.check.pairing import Pairing, pair_images
from snellen.check.run_side import RunSide
from snellen.check.side import GateSide, Measured, Scores, measured, scores_behind
from snellen.errors import UserError, unknown
from snellen.measure.bound_test import interval_test
from snellen.measure.estimate import Estimate
from snellen.measure.paired_changes import PairedBound, paired_bound


class Changes:
    """What changed between a baseline and a run; `unpaired` allows other data, compared by their intervals alone."""

    def __init__(self, run: RunSide, baseline: GateSide, margin: float, unpaired: bool) -> None:
        self.run, self.baseline, self.margin, self.unpaired = run, baseline, margin, unpaired

    @cached_property
    def pairings(self) -> dict[str, Pairing]:
        """Role → the images that both sides have, as far as it was looked at."""
        return {}

    def evidence(self, condition: Condition, finding: AnyFinding) -> GateEvidence:
        """The change of a finding against the bound of a condition."""
        here = measured(finding)
        there = self._before(here)
        sign, bound = self._bound(condition, finding)
        if there is None or there.value is None:
            words = f"{finding.model} has {finding.name} {_number(here.value)}"
            reason = "it was not measured" if there is not None else "there is no such finding"
            return settled(condition, finding, words, "undecided", f"{reason} in the baseline")
        assert here.value is not None
        scores = None if self.unpaired else self._paired_scores(here, there)
        words = f"{finding.model} has {finding.name} {here.value:.4g} where the baseline has {there.value:.4g}{behind(finding)}"
        if scores is not None and not condition.attribute:
            paired = paired_bound(*scores[:2], bound, scores[2])
            return _paired(condition, finding, (words, sign, bound), paired)
        if scores is not None:
            change = paired_bound(*scores[:2], 0.0, scores[2]).difference
            estimate = Estimate(change.value, change.low, change.high, change.n)
        else:
            if not self.unpaired:
                self._pairing(here.on or "test")  # refuses other data
            estimate = _apart(here, there)
        if condition.plain:
            number = getattr(estimate, condition.attribute or "value")
            words = f"{words}: a change of {in_words(estimate)}"
            met = not isnan(number) and condition_met(sign, number, bound)
            return settled(condition, finding, words, "holds" if met else "fails")
        return self._from_intervals(condition, finding, (words, sign, bound), estimate)

    def _from_intervals(
        self, condition: Condition, finding: AnyFinding, phrase: tuple[str, str, float], estimate: Estimate
    ) -> GateEvidence:
        words, sign, bound = phrase
        words = f"{words}: a change of {in_words(estimate)}, by the two intervals"
        if isnan(estimate.low) or isnan(estimate.high):
            return settled(condition, finding, words, "undecided", "one of the two has no interval")
        listing = self.run.listing(finding.on)
        degrees = degrees_in(None if listing is None else listing.groups, finding.n)
        return GateEvidence(
            condition=condition, finding=finding, words=words, estimate=estimate, bound=bound, sign=sign, paired=False,
            test=interval_test(estimate, bound, degrees), error=error_towards(estimate, bound, degrees),
        )  # fmt: skip

    def _bound(self, condition: Condition, finding: AnyFinding) -> tuple[str, float]:
        """The sign and bound of the change; those of `no_worse` follow from which way is better."""
        if condition.kind != "no_worse":
            assert isinstance(condition.bound, float)
            return condition.sign, condition.bound
        if not finding.better:
            raise UserError(
                f"'{condition.text}': '{finding.name}' has no better direction; write change({finding.name}) with a bound"
            )
        margin = condition.bound if isinstance(condition.bound, float) else self.margin
        return (">=", -margin) if finding.better == "higher" else ("<=", margin)

    def _before(self, here: Measured) -> Measured | None:
        """The same question in the baseline; among several of one question the one of the same label, or place."""
        model = self._model_before(here.model)
        then = [own for own in self.baseline.findings if own.model == model and own.question == here.question]
        now = [own for own in self.run.findings if own.model == here.model and own.question == here.question]
        if len(then) > 1:
            same = [own for own in then if own.label == here.label]
            if len(same) == 1:
                return same[0]
            return then[now.index(here)] if len(now) == len(then) else None
        return then[0] if then and (len(now) == 1 or then[0].label == here.label) else None

    def _model_before(self, model: str) -> str:
        """The model's name in the baseline: the same, or the only one where both have but one."""
        known = list(self.baseline.models)
        if model in known or model not in self.run.models:
            return model
        if len(known) == len(self.run.models) == 1:
            return known[0]
        raise unknown(f"model in the baseline {self.baseline.source}", model, known)

    def _paired_scores(self, here: Measured, there: Measured) -> tuple[Scores, Scores, np.ndarray | None] | None:
        """Both sides' scores on the images they share, and the groups of these; None where a finding is no mean of scores."""
        own, other = scores_behind(self.run, here), scores_behind(self.baseline, there)
        if own is None or other is None:
            return None
        pairing = self._pairing(here.on)
        listing = self.run.listing(here.on)
        groups = None if listing is None or listing.groups is None else listing.groups[pairing.here]
        return own[:, pairing.here], other[:, pairing.there], groups

    def _pairing(self, on: str) -> Pairing:
        if on not in self.pairings:
            self.pairings[on] = pair_images(self.run, self.baseline, on)
        return self.pairings[on]

    def notices(self) -> Sequence[str]:
        """What a reader must know of the images that were compared."""
        lines = []
        for on, pairing in self.pairings.items():
            if pairing.only_here or pairing.only_there:
                lines.append(
                    f"compared on the {pairing.shared:,} {on} images that both have: {pairing.only_here:,} are only in the "
                    f"run, {pairing.only_there:,} only in the baseline"
                )
        if self.unpaired:
            lines.append("compared by intervals alone, whether or not the images are the same")
        return lines


def condition_met(sign: str, value: float, bound: float) -> bool:
    """Whether a number keeps a bound as it stands."""
    from snellen.check.condition import OPERATORS

    return OPERATORS[sign](value, bound)


def _paired(
    condition: Condition, finding: AnyFinding, phrase: tuple[str, str, float], paired: PairedBound
) -> GateEvidence:
    words, sign, bound = phrase
    change = paired.difference
    estimate = Estimate(change.value, change.low, change.high, change.n)
    words = f"{words}: a change of {in_words(estimate)}, on the same {change.n:,} images"
    if condition.point:
        met = condition_met(sign, change.value, bound)
        return settled(condition, finding, words, "holds" if met else "fails")
    if isnan(change.low) or isnan(change.high):
        return settled(condition, finding, words, "undecided", "too few images or groups for an interval")
    return GateEvidence(
        condition=condition, finding=finding, words=words, estimate=estimate, bound=bound, sign=sign, paired=True,
        test=paired.test, error=change.error, drop=paired.drop_among,
    )  # fmt: skip


def _apart(here: Measured, there: Measured) -> Estimate:
    """The difference of two numbers by their intervals (Zou & Donner 2008), as if independent."""
    first = estimate_of(here.value, here.low, here.high, here.n)
    second = estimate_of(there.value, there.low, there.high, there.n)
    value = first.value - second.value
    low = value - sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    high = value + sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Estimate(value, low, high, min(first.n, second.n) or max(first.n, second.n))


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4g}"
