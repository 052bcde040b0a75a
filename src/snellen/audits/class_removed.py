"""Networks that never saw a class: does another take the place of the one that squares are taken for?

Marcu & Prügel-Bennett 2022, C.5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.audits.trust import CAVEAT, dominant_in, interference_of
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import Chance, Interference, chance_of, interference, interference_null


@dataclass(frozen=True)
class Remaining:
    """The DI of one distortion among the classes that a model knows, on their images, with its chance."""

    di: Interference
    chance: Chance
    dominant: str


def class_removed(
    exam: Exam, answers: Answers, others: Sequence[Answers], cells: Sequence[Cell], lost: Sequence[str]
) -> Finding:
    """The DI of a model that has no answer for the classes `lost`, under the square whose DI is highest for the others.

    `others` know all classes; without any it is the square whose DI is highest for the model itself.
    """
    if others:
        cell = max(cells, key=lambda one: float(np.nan_to_num(interference_of(exam, others[0], one).index)))
        left = remaining(exam, answers, cell, lost)
    else:
        cell, left = max(
            ((one, remaining(exam, answers, one, lost)) for one in cells),
            key=lambda pair: float(np.nan_to_num(pair[1].di.index)),
        )
    whole = [(one.model, interference_of(exam, one, cell).index, dominant_in(exam, one, cell)) for one in others]
    takes_over = bool(left.dominant) and left.chance.p < 0.05
    outcome = f"'{left.dominant}' takes its place" if takes_over else "no other class clearly takes its place"
    before = "".join(f"; {name}, which knows it: DI {index:.2f}, {taker or 'none'}" for name, index, taker in whole)
    rest = [name for name in exam.classes["test"] if name not in lost]
    return finding(
        "occlusion", "interference_without_class", answers.model, left.di,
        f"DI of {cell.distortion} for networks that never saw {', '.join(lost)}, on images of the other {len(rest)} "
        f"classes: {outcome} (p = {left.chance.p:.3f} for errors at random{before}; {CAVEAT})",
        unit="index", label=f"DI without {', '.join(lost)}", per_run=tuple(left.di.per_run.tolist()),
        facts={
            "distortion": str(cell.distortion), "removed": ", ".join(lost), "dominant": left.dominant or "none",
            "p_uniform": left.chance.p, "null95": left.chance.quantile95, "taken": takes_over,
            "others": {name: {"index": index, "dominant": taker or "none"} for name, index, taker in whole},
        },
    )  # fmt: skip


def remaining(exam: Exam, answers: Answers, cell: Cell, lost: Sequence[str]) -> Remaining:
    """The DI among the classes that are left; answers outside them, and images of the lost ones, do not count."""
    names = exam.classes[cell.on]
    left = [name for name in names if name not in lost]
    number = np.array([left.index(name) if name in left else -1 for name in names] + [-1])  # the last is for −1
    clean, distorted = answers.together(exam.clean(cell.on), cell)
    rows = np.flatnonzero(number[clean.labels] >= 0)
    clean, distorted = clean.at(rows), distorted.at(rows)
    numbers = number[clean.pred], number[distorted.pred], number[clean.labels], len(left)
    di = interference(*numbers)
    thrown = interference_null(*numbers) if len(left) > 2 else np.empty(0)
    dominant = left[di.dominant] if di.dominant >= 0 and len(left) > 2 else ""
    return Remaining(di, chance_of(di.index, thrown), dominant)
