"""Between models: paired differences on the same images, corrected for their number (contract 10)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, Number, OpenFacts, UnsetType
from snellen.audits.families import SURE, FamilyOfTests, corrected
from snellen.audits.finding import Finding, finding
from snellen.audits.run_facts import PIXEL_FACTS, RUN_FACTS
from snellen.audits.trust import strongest, trust_in
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure.comparison import Comparison, compare

FAMILY = "differences in accuracy between models: all pairs and questions"


class DifferenceFacts(OpenFacts, frozen=True, kw_only=True):
    """The finding it is `of` (beside what that one tells), the two models, and what the data could have shown: p, p after
    Holm's correction (`corrected_over` which tests), and the difference that would mostly have been seen."""

    of: str
    first: str
    second: str
    p: Number
    p_corrected: Number
    detectable: Number
    corrected_over: str | UnsetType = UNSET


@dataclass(frozen=True)
class _Pair:
    """Two models' answers to the questions of one finding, and how they compare."""

    of: Finding
    first: Answers
    second: Answers
    comparison: Comparison

    @property
    def test(self) -> tuple[frozenset[Cell], str, str]:
        """What is compared: findings that rest on the same cells, such as squares of all sizes and of the only one, share it."""
        return frozenset(self.of.cells), self.first.model, self.second.model


def differences(exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
    """For every accuracy that several models have: each pair's difference, its corrected p-value, and what the data
    could have shown."""
    accuracies: dict[tuple[str, tuple[Cell, ...]], Finding] = {}
    for candidate in findings:
        if candidate.unit == "share" and candidate.better == "higher" and candidate.cells:
            accuracies.setdefault((candidate.name, candidate.cells), candidate)
    pairs: list[_Pair] = []
    for of in accuracies.values():
        for first, second in itertools.combinations(everyone, 2):
            if all(cell in answers for cell in of.cells for answers in (first, second)):
                groups = first.groups(of.cells[0])
                comparison = compare(first.mean_score(of.cells), second.mean_score(of.cells), groups)
                pairs.append(_Pair(of, first, second, comparison))
    tests = {pair.test: pair.comparison.p for pair in pairs}
    family = corrected(list(tests.values()), FAMILY)
    p_values = dict(zip(tests, family.p))
    return [_finding(exam, pair, p_values[pair.test], family) for pair in pairs]


def _finding(exam: Exam, pair: _Pair, p: float, family: FamilyOfTests) -> Finding:
    of, first, second, comparison = pair.of, pair.first, pair.second, pair.comparison
    sure = "clearly" if p < SURE else "not clearly"
    detectable = comparison.detectable_among(family.tests)
    several = any(len(answers[of.cells[0]].score) > 1 for answers in (first, second))
    runs = ", of these runs" if several else ""
    text = (
        f"{of.name.replace('_', ' ')} of {first.model} less that of {second.model} on the same images{runs}: {sure} different "
        f"(p = {p:.2g} after Holm's correction over {family.words}); these data would mostly have shown a difference of "
        f"{100 * detectable:.1f} points"
    )
    difference = finding(
        "between", "difference", f"{first.model} − {second.model}", comparison, text, unit="difference", cells=of.cells,
        facts=DifferenceFacts(
            of=of.name, first=first.model, second=second.model, p=comparison.p, p_corrected=p, detectable=detectable,
            corrected_over=family.words,
            values={
                key: value
                for key, value in of.plain_facts.items()
                if isinstance(value, str | float | int) and key not in (*PIXEL_FACTS, *RUN_FACTS)  # which are of one model
            },
        ),
        label=f"Difference: {of.topic}", topic=f"the difference for {of.topic}",
    )  # fmt: skip
    classes = exam.task == "classification"  # else there is no interference
    distorted = [cell for cell in of.cells if exam.modified(cell)] if classes else []
    trusts = [trust_in(exam, answers, cell) for cell in distorted for answers in (first, second)]
    return difference.trusting(strongest(trusts)) if trusts else difference
