"""From stored answers to rows of a sweep's table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from snellen.audits.facts import Number
from snellen.data.dataset import Dataset
from snellen.engine.keep.stored_parts import stored_parts
from snellen.exam.run import Run
from snellen.measure import Estimate, accuracy, mean_estimate, paired_difference
from snellen.measure.averages import deviation
from snellen.report.pages.sweep_result import SweepRow
from snellen.sweep.points import SweepPoint

FOREGROUND = "foreground"  # the column by which variants of an image are paired, where data have it

UNSEEN = "mean of unseen"  # no test is called so: names have no spaces


@dataclass(frozen=True)
class SweepScores:
    """Scores [runs, samples] of one point on one dataset, in the order of its listing (nan: not answered)."""

    values: np.ndarray
    folder: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SweepValue:
    """What a row of the table says of one point: an accuracy or a gap, its interval over images, and its mean in each run."""

    test: str
    test_data: str
    measure: str
    estimate: Estimate
    per_run: np.ndarray
    warnings: tuple[str, ...]

    def of(self, point: SweepPoint) -> SweepRow:
        """The row of a point."""
        data = point.data
        return SweepRow(
            point=point.name,
            x=point.x,
            trained_on=point.description,
            images=None if data is None else len(data),
            classes=None if data is None else len(data.classes),
            runs=len(self.per_run),
            test=self.test,
            test_data=self.test_data,
            measure=self.measure,
            value=_known(self.estimate.value),
            low=_known(self.estimate.low),
            high=_known(self.estimate.high),
            n=self.estimate.n,
            std=_known(deviation(self.per_run)),
            per_run=" ".join(f"{share:.6f}" for share in self.per_run),
            warnings=" ".join(self.warnings),
        )


def read_scores(run: Run, data: Dataset) -> SweepScores:
    """The stored scores of the only model of a run on the images as they are."""
    cells = run.store.cells()
    clean = {row["cell"]: row["run"] for row in cells if row["distortion"] == "none()" and row["on"] == "test"}
    names = sorted(set(clean.values()))
    values = np.full((len(names), len(data)), math.nan)
    keys, rows = dict.fromkeys(clean, "test"), {"test": data.samples.rows}
    for cell, start, stop, columns, at in stored_parts(run.store, run.store.files("answers"), ("score",), keys, rows):
        values[names.index(clean[cell]), at] = columns["score"][start:stop]
    warnings = dict.fromkeys(str(warning["name"]) for warning in run.results().get("warnings", []))
    return SweepScores(values, str(run.path), tuple(warnings))


def accuracy_of(test: str, data: Dataset, scores: SweepScores) -> SweepValue:
    """The accuracy on some data: mean over runs and images, 95% interval over images, deviation over runs."""
    return SweepValue(test, data.text, "accuracy", _accuracy(data, scores), _per_run(scores.values), scores.warnings)


def unseen_mean(domains: Mapping[str, tuple[Dataset, SweepScores]]) -> SweepValue:
    """The mean of the accuracies on some domains, each of the same weight."""
    mean = mean_estimate([_accuracy(data, scores) for data, scores in domains.values()])
    per_run = np.stack([_per_run(scores.values) for _, scores in domains.values()], axis=1)
    warnings = tuple(dict.fromkeys(name for _, scores in domains.values() for name in scores.warnings))
    return SweepValue(UNSEEN, " + ".join(domains), "unseen_mean", mean, per_run.mean(axis=1), warnings)


def _accuracy(data: Dataset, scores: SweepScores) -> Estimate:
    return accuracy(scores.values, data.samples.columns.get("group"))


def gap_between(first: tuple[str, Dataset, SweepScores], second: tuple[str, Dataset, SweepScores]) -> SweepValue:
    """The accuracy on the first data less that on the second, paired by foreground, else by sample id."""
    (test, data, scores), (other, others, more) = first, second
    left, right = _paired(data, others)
    a, b = scores.values[:, left], more.values[:, right]
    groups = data.samples.columns.get("group")
    difference = paired_difference(a, b, None if groups is None else np.asarray(groups)[left])
    measure = "bg_gap" if (test, other) == ("mixed_same", "mixed_rand") else "gap"
    per_run = np.nanmean(a, axis=1) - np.nanmean(b, axis=1) if len(left) else np.full(len(a), math.nan)
    warned = tuple(dict.fromkeys((*scores.warnings, *more.warnings)))
    return SweepValue(f"{test}-{other}", f"{data.text} − {others.text}", measure, difference, per_run, warned)


def _paired(data: Dataset, others: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both that show the same foreground; where neither names foregrounds, the same id."""
    left, right = (_foregrounds(dataset) for dataset in (data, others))
    place = {name: row for row, name in enumerate(right)}
    rows = [(row, place[name]) for row, name in enumerate(left) if name in place]
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _foregrounds(data: Dataset) -> list[str]:
    column = data.samples.columns.get(FOREGROUND)
    return list(data.samples.ids) if column is None else [str(name) for name in column]


def _per_run(values: np.ndarray) -> np.ndarray:
    """The mean of each run, [runs]; nan where it answered nothing."""
    return np.array([np.nanmean(row) if not np.isnan(row).all() else math.nan for row in values])


def _known(value: float) -> Number:
    return float(value) if math.isfinite(value) else None
