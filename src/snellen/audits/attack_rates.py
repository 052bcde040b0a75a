"""How strong backgrounds are: the attack rate of each, and the worst, stated on objects on which they were not chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.unsearched import UnsearchedImages
from snellen.engine.keep.read_back import TrialTable
from snellen.measure import attack_success
from snellen.measure.background_attack import AttackSuccess


class WorstBackground(msgspec.Struct, frozen=True, kw_only=True):
    """A background: its sample id, its place among those of the trial, its attack rate and the objects it was tried on.

    The rate is of objects on which it was not chosen, unless the finding says that it is (`chosen`).
    """

    background: str
    place: int
    rate: float
    tried: int


class RateBin(msgspec.Struct, frozen=True, kw_only=True):
    """How many backgrounds have an attack rate from `start` to `stop`."""

    start: float
    stop: float
    count: int


@dataclass(frozen=True)
class Halves:
    """Objects, bool [objects]: `choosing` those on which the worst are found, `stated` those that their rates are of.

    `chosen` says that there are too few for two halves, so that both are all.
    """

    choosing: np.ndarray
    stated: np.ndarray
    chosen: bool

    @classmethod
    def of(cls, exam: Exam) -> Halves:
        """Two halves by a hash of the ids; images of one group are on the same side."""
        ids = exam.samples["test"].ids
        rest = UnsearchedImages.of(exam, (len(ids) + 1) // 2)
        if rest.chosen:
            return cls(np.ones(len(ids), bool), np.ones(len(ids), bool), True)
        stated = np.array([sample in rest.ids for sample in ids], bool)
        return cls(~stated, stated, False)

    @property
    def words(self) -> str:
        """Which objects, at the end of a text."""
        if not self.chosen:
            return "chosen on one half of the objects, the value is of the other"
        return "chosen on the same objects, too few for two halves, so this value errs towards the worse"


def _answer_matrix(run: TrialTable, backgrounds: int) -> tuple[np.ndarray, np.ndarray]:
    """int [objects, backgrounds]: the answers; and bool [objects]: which objects have any."""
    there = np.zeros(len(run.rows), bool)
    pred = np.full((len(run.rows), backgrounds), -2, np.int16)
    for at, row in enumerate(run.rows):
        if row is not None and not row["error"] and row.get("pred") is not None:
            pred[at], there[at] = row["pred"], True
    return pred, there


def mean_success(
    runs: Sequence[TrialTable], labels: np.ndarray, other: np.ndarray, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, dict[int, float]]:
    """Over runs, the attack rates of backgrounds, the objects that each was tried on, and the totals by class; `among` some."""
    successes = [_attack_success(run, labels, other, among) for run in runs]
    rates = np.mean([success.per_background for success in successes], axis=0)
    totals = {
        label: float(np.mean([success.class_totals[label] for success in successes]))
        for label in successes[0].class_totals
    }
    return rates, successes[0].tried, totals


def _attack_success(run: TrialTable, labels: np.ndarray, other: np.ndarray, among: np.ndarray | None) -> AttackSuccess:
    pred, there = _answer_matrix(run, len(other))
    counted = there if among is None else there & among
    return attack_success(pred, labels, other, evaluated=np.broadcast_to(counted[:, None], pred.shape))


def share_turned(run: TrialTable, labels: np.ndarray, other: np.ndarray) -> np.ndarray:
    """float [objects]: of the backgrounds of other classes, the share whose class is answered; nan where there is none."""
    pred, there = _answer_matrix(run, len(other))
    conflict = there[:, None] & (labels[:, None] != other)
    hits, of = ((pred == other) & conflict).sum(1), conflict.sum(1)
    return np.divide(hits, of, out=np.full(len(labels), np.nan), where=of > 0)


def turned_into(run: TrialTable, labels: np.ndarray, other: np.ndarray, label: int) -> np.ndarray:
    """float [objects]: 1 where a background of this class turns an object of another into it, 0 where none does, else nan."""
    pred, there = _answer_matrix(run, len(other))
    return np.where(there & (labels != label), (pred[:, other == label] == label).any(1).astype(float), np.nan)


def worst_of_class(
    things: Mapping[str, Sequence[Any]],
    chosen_by: np.ndarray,
    stated: tuple[np.ndarray, np.ndarray],
    name: str,
    count: int,
) -> list[WorstBackground]:
    """The backgrounds of a class with the highest rates by which they are chosen, and their stated rates, the highest first."""
    rates, tried = stated
    known = np.isfinite(chosen_by) & np.isfinite(rates)
    rows = [row for row, word in enumerate(things["class"]) if word == name and known[row]]
    rows = sorted(rows, key=lambda row: (-chosen_by[row], things["background"][row]))[:count]
    listed = [
        WorstBackground(
            background=things["background"][row],
            place=things["place"][row],
            rate=float(rates[row]),
            tried=int(tried[row]),
        )
        for row in rows
    ]
    return sorted(listed, key=lambda worst: (-worst.rate, worst.background))


def histogram_of(rates: np.ndarray, bins: int = 20) -> list[RateBin]:
    """How many backgrounds have which rate (figure 24): bins of 5 points."""
    counts, edges = np.histogram(rates[np.isfinite(rates)], bins=bins, range=(0, 1))
    return [RateBin(start=float(a), stop=float(b), count=int(n)) for a, b, n in zip(edges, edges[1:], counts)]
