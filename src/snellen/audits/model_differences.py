"""Between models: paired differences on the same images, corrected for their number (contract 10)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.audits.trust import trust_in
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure.compare import Comparison, compare, holm


def differences(exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
    """For every accuracy that several models have: each pair's difference, its corrected p-value, and what the data
    could have shown."""
    accuracies: dict[tuple[str, tuple[Cell, ...]], Finding] = {}
    for one in findings:
        if one.unit == "share" and one.better == "higher" and one.cells:
            accuracies.setdefault((one.name, one.cells), one)
    pairs: list[tuple[Finding, Answers, Answers, Comparison]] = []
    for one in accuracies.values():
        for first, second in itertools.combinations(everyone, 2):
            if all(cell in answers for cell in one.cells for answers in (first, second)):
                groups = first.groups(one.cells[0])
                measured = compare(first.mean_score(one.cells), second.mean_score(one.cells), groups)
                pairs.append((one, first, second, measured))
    corrected = holm([measured.p for *_, measured in pairs])
    return [_finding(exam, *row, p=float(p), tests=len(pairs)) for row, p in zip(pairs, corrected)]


def _finding(
    exam: Exam, of: Finding, first: Answers, second: Answers, measured: Comparison, p: float, tests: int
) -> Finding:
    sure = "clearly" if p < 0.05 else "not clearly"
    text = (
        f"{of.name.replace('_', ' ')} of {first.model} less that of {second.model} on the same images: {sure} different "
        f"(p = {p:.2g} after Holm's correction of {tests} comparisons); these data would mostly have shown a difference "
        f"of {100 * measured.detectable:.1f} points"
    )
    difference = finding(
        "between", "difference", f"{first.model} − {second.model}", measured, text, unit="difference", cells=of.cells,
        facts={
            **{key: value for key, value in of.facts.items() if isinstance(value, str | float | int)},
            "of": of.name, "first": first.model, "second": second.model, "p": measured.p, "p_corrected": p,
            "detectable": measured.detectable,
        },
        label=f"Difference: {of.topic}", topic=f"the difference for {of.topic}",
    )  # fmt: skip
    distorted = [cell for cell in of.cells if exam.modified(cell)]
    trusts = [trust_in(exam, answers, cell) for cell in distorted for answers in (first, second)]
    return difference.trusting(max(trusts, key=lambda t: (t.flagged, np.nan_to_num(t.index)))) if trusts else difference
