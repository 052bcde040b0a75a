"""From stored answers to rows of a sweep's table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from snellen.data.dataset import Dataset
from snellen.engine.keep.stored_parts import stored_parts
from snellen.exam.run import Run
from snellen.measure import Estimate, accuracy, mean_estimate, paired_difference
from snellen.measure.per_run import deviation

FOREGROUND = "foreground"  # the column by which variants of an image are paired, where data have it

UNSEEN = "mean of unseen"  # no test is called so: names have no spaces

COLUMNS = (
    *("point", "x", "trained_on", "images", "classes", "runs", "test", "test_data", "measure"),
    *("value", "low", "high", "n", "std", "per_run", "warnings"),
)


@dataclass(frozen=True)
class Scores:
    """Scores [runs, samples] of one point on one dataset, in the order of its listing (nan: not answered)."""

    values: np.ndarray
    folder: str
    warnings: tuple[str, ...] = ()


def read_scores(run: Run, data: Dataset) -> Scores:
    """The stored scores of the only model of a run on the images as they are."""
    cells = run.store.cells()
    clean = {row["cell"]: row["run"] for row in cells if row["distortion"] == "none()" and row["on"] == "test"}
    names = sorted(set(clean.values()))
    values = np.full((len(names), len(data)), math.nan)
    keys, rows = dict.fromkeys(clean, "test"), {"test": data.samples.rows}
    for cell, start, stop, columns, at in stored_parts(run.store, run.store.files("answers"), ("score",), keys, rows):
        values[names.index(clean[cell]), at] = columns["score"][start:stop]
    warnings = dict.fromkeys(str(warning["name"]) for warning in run.results().get("warnings", []))
    return Scores(values, str(run.path), tuple(warnings))


def accuracy_row(test: str, data: Dataset, scores: Scores) -> dict[str, Any]:
    """The accuracy on some data: mean over runs and images, 95% interval over images, deviation over runs."""
    return _row(test, data.text, "accuracy", _accuracy(data, scores), scores.values, scores.warnings)


def unseen_row(domains: Mapping[str, tuple[Dataset, Scores]]) -> dict[str, Any]:
    """The mean of the accuracies on some domains, each of the same weight."""
    mean = mean_estimate([_accuracy(data, scores) for data, scores in domains.values()])
    per_run = np.stack([_per_run(scores.values) for _, scores in domains.values()], axis=1)
    warnings = tuple(dict.fromkeys(name for _, scores in domains.values() for name in scores.warnings))
    return _row(UNSEEN, " + ".join(domains), "unseen_mean", mean, per_run.mean(axis=1, keepdims=True), warnings)


def _accuracy(data: Dataset, scores: Scores) -> Estimate:
    return accuracy(scores.values, data.samples.columns.get("group"))


def gap_row(first: tuple[str, Dataset, Scores], second: tuple[str, Dataset, Scores]) -> dict[str, Any]:
    """The accuracy on the first data less that on the second, paired by foreground, else by sample id."""
    (one, data, scores), (other, others, more) = first, second
    left, right = _paired(data, others)
    a, b = scores.values[:, left], more.values[:, right]
    groups = data.samples.columns.get("group")
    difference = paired_difference(a, b, None if groups is None else np.asarray(groups)[left])
    measure = "bg_gap" if (one, other) == ("mixed_same", "mixed_rand") else "gap"
    per_run = np.nanmean(a, axis=1) - np.nanmean(b, axis=1) if len(left) else np.full(len(a), math.nan)
    warned = tuple(dict.fromkeys((*scores.warnings, *more.warnings)))
    return _row(f"{one}-{other}", f"{data.text} − {others.text}", measure, difference, per_run[:, None], warned)


def _paired(data: Dataset, others: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both that show the same foreground; where neither names foregrounds, the same id."""
    left, right = (_foregrounds(one) for one in (data, others))
    place = {name: row for row, name in enumerate(right)}
    rows = [(row, place[name]) for row, name in enumerate(left) if name in place]
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _foregrounds(data: Dataset) -> list[str]:
    column = data.samples.columns.get(FOREGROUND)
    return list(data.samples.ids) if column is None else [str(name) for name in column]


def _row(
    test: str, text: str, measure: str, estimate: Estimate, values: np.ndarray, warnings: tuple[str, ...]
) -> dict[str, Any]:
    per_run = _per_run(values)
    return {
        "runs": len(values),
        "test": test,
        "test_data": text,
        "measure": measure,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "std": deviation(per_run),
        "per_run": " ".join(f"{value:.6f}" for value in per_run),
        "warnings": " ".join(warnings),
    }


def _per_run(values: np.ndarray) -> np.ndarray:
    """The mean of each run, [runs]; nan where it answered nothing."""
    return np.array([np.nanmean(row) if not np.isnan(row).all() else math.nan for row in values])
