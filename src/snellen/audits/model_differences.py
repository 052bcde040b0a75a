"""Between models: paired differences on the same images, corrected for their number (contract 10)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.audits.pixel_facts import PIXEL_FACTS
from snellen.audits.run_facts import RUN_FACTS
from snellen.audits.trust import strongest, trust_in
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure.compare import Comparison, compare, holm


@dataclass(frozen=True)
class _Pair:
    """Two models' answers to the questions of one finding, and how they compare."""

    of: Finding
    first: Answers
    second: Answers
    comparison: Comparison


def differences(exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
    """For every accuracy that several models have: each pair's difference, its corrected p-value, and what the data
    could have shown."""
    accuracies: dict[tuple[str, tuple[Cell, ...]], Finding] = {}
    for one in findings:
        if one.unit == "share" and one.better == "higher" and one.cells:
            accuracies.setdefault((one.name, one.cells), one)
    pairs: list[_Pair] = []
    for one in accuracies.values():
        for first, second in itertools.combinations(everyone, 2):
            if all(cell in answers for cell in one.cells for answers in (first, second)):
                groups = first.groups(one.cells[0])
                comparison = compare(first.mean_score(one.cells), second.mean_score(one.cells), groups)
                pairs.append(_Pair(one, first, second, comparison))
    corrected = holm([pair.comparison.p for pair in pairs])
    tests = int(np.sum(~np.isnan(corrected)))  # a comparison without a p-value is no test
    return [_finding(exam, pair, float(p), tests) for pair, p in zip(pairs, corrected)]


def _finding(exam: Exam, pair: _Pair, p: float, tests: int) -> Finding:
    of, first, second, comparison = pair.of, pair.first, pair.second, pair.comparison
    sure = "clearly" if p < 0.05 else "not clearly"
    detectable = comparison.detectable_among(tests)
    several = any(len(answers[of.cells[0]].score) > 1 for answers in (first, second))
    runs = ", of these runs" if several else ""
    text = (
        f"{of.name.replace('_', ' ')} of {first.model} less that of {second.model} on the same images{runs}: {sure} different "
        f"(p = {p:.2g} after Holm's correction of {tests} comparisons); these data would mostly have shown a difference "
        f"of {100 * detectable:.1f} points"
    )
    difference = finding(
        "between", "difference", f"{first.model} − {second.model}", comparison, text, unit="difference", cells=of.cells,
        facts={
            **{
                key: value
                for key, value in of.facts.items()
                if isinstance(value, str | float | int) and key not in (*PIXEL_FACTS, *RUN_FACTS)  # which are of one model
            },
            "of": of.name, "first": first.model, "second": second.model, "p": comparison.p, "p_corrected": p,
            "detectable": detectable,
        },
        label=f"Difference: {of.topic}", topic=f"the difference for {of.topic}",
    )  # fmt: skip
    classes = exam.task == "classification"  # else there is no interference
    distorted = [cell for cell in of.cells if exam.modified(cell)] if classes else []
    trusts = [trust_in(exam, answers, cell) for cell in distorted for answers in (first, second)]
    return difference.trusting(strongest(trusts)) if trusts else difference
