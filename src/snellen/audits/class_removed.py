"""Networks that never saw a class: does another take the place of the one that squares are taken for?

Marcu & Prügel-Bennett 2022, C.5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, finding
from snellen.audits.trust import CAVEAT, chance_in, dominant_in, interference_of
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import Chance, Interference, chance_of, error_agreement, interference, interference_null
from snellen.measure.interference_chance import ALPHA


class KnowingModel(msgspec.Struct, frozen=True, kw_only=True):
    """The DI of a model that knows the removed class, and the class that takes its new errors."""

    index: Number
    dominant: str


class WithoutClassFacts(FindingFacts, frozen=True, kw_only=True):
    """The distortion, the classes that were `removed` from training, and the class that takes the new errors without them.

    `p_uniform` and `null95` are those of errors at random; `taken` says that a class clearly takes the place of one that
    clearly dominated. `others` are the models that know all classes, by name.
    """

    distortion: str
    removed: str
    dominant: str
    p_uniform: Number
    null95: Number
    taken: bool
    others: dict[str, KnowingModel]


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
        cell = max(cells, key=lambda cell: float(np.nan_to_num(interference_of(exam, others[0], cell).index)))
        left = remaining(exam, answers, cell, lost)
    else:
        cell, left = max(
            ((cell, remaining(exam, answers, cell, lost)) for cell in cells),
            key=lambda pair: float(np.nan_to_num(pair[1].di.index)),
        )
    dominated = [other.model for other in others if _dominates(exam, other, cell, lost)]
    knowing = {
        other.model: KnowingModel(
            index=interference_of(exam, other, cell).value, dominant=dominant_in(exam, other, cell) or "none"
        )
        for other in others
    }
    clear = bool(left.dominant) and left.di.beyond_chance and left.chance.p < ALPHA
    takes_over = bool(dominated) and clear
    outcome = _outcome(left.dominant if clear else "", lost, dominated, bool(others))
    before = "".join(f"; {name}, which knows it: DI {di.index:.2f}, {di.dominant}" for name, di in knowing.items())
    rest = [name for name in exam.classes["test"] if name not in lost]
    return finding(
        "occlusion", "interference_without_class", answers.model, left.di,
        f"DI of {cell.distortion} for networks that never saw {', '.join(lost)}, on images of the other {len(rest)} "
        f"classes: {outcome} (p = {left.chance.p:.3f} for errors at random{before}; {CAVEAT})",
        unit="index", label=f"New errors on one class (DI), without {', '.join(lost)}", per_run=tuple(left.di.per_run.tolist()),
        facts=WithoutClassFacts(
            distortion=str(cell.distortion), removed=", ".join(lost), dominant=left.dominant or "none",
            p_uniform=left.chance.p, null95=left.chance.quantile95, taken=takes_over, others=knowing,
        ),
    )  # fmt: skip


def _dominates(exam: Exam, answers: Answers, cell: Cell, lost: Sequence[str]) -> bool:
    """Whether one of the classes clearly dominates for a model that knows it."""
    clear = interference_of(exam, answers, cell).beyond_chance and chance_in(exam, answers, cell).p < ALPHA
    return clear and dominant_in(exam, answers, cell) in lost


def _outcome(dominant: str, lost: Sequence[str], dominated: Sequence[str], known: bool) -> str:
    """What became of the place of a class: only a class that dominated has one to take. `dominant` is empty if unclear."""
    names = ", ".join(lost)
    if dominated:
        return f"'{dominant}' takes its place" if dominant else "no other class clearly takes its place"
    why = (
        f"{names} did not clearly dominate where it is known" if known else f"no model that knows {names} is beside it"
    )
    return f"{why}, so no place to take; {f'{dominant!r} dominates' if dominant else 'no class clearly dominates'}"


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
    thrown = np.empty(0)
    if len(left) > 2:
        thrown = interference_null(*numbers, agreement=error_agreement(*numbers[1:]))
    dominant = left[di.dominant] if di.dominant >= 0 and len(left) > 2 else ""
    return Remaining(di, chance_of(di.index, thrown), dominant)
