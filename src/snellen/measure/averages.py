"""Averages and how sure they are: over the runs of a recipe, over images, over several datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import sum_by_group
from snellen.measure.estimate import NO_DATA, Estimate, as_runs

Floats = NDArray[np.float64]


def means(accuracies: ArrayLike) -> Floats:
    """One mean per run, [runs], of one number, of [runs] or of scores [runs, samples]; no samples give nan."""
    given = np.asarray(accuracies, dtype=np.float64)
    if given.ndim < 2:
        return np.atleast_1d(given)
    if given.ndim > 2:
        raise ValueError(f"expected one number, [runs] or [runs, samples], got an array of shape {given.shape}")
    return given.mean(axis=1) if given.shape[1] else np.full(len(given), nan)


def samples_of(accuracies: ArrayLike) -> int:
    """How many samples stand behind the accuracies: 0 where only means are given."""
    given = np.asarray(accuracies)
    return given.shape[1] if given.ndim == 2 else 0


def deviation(per_run: Floats) -> float:
    """The sample deviation over runs; nan for a single run, which shows no spread."""
    return float(np.std(per_run, ddof=1)) if len(per_run) > 1 else nan


def same_runs(**given: Floats) -> None:
    """Raise unless all have one value for each of the same runs."""
    counts = {name: len(values) for name, values in given.items()}
    if len(set(counts.values())) > 1 or not all(counts.values()):
        said = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise ValueError(f"expected the same number of runs everywhere, got {said}")


def standard_error(scores: ArrayLike, groups: ArrayLike | None = None) -> float:
    """How far the mean of scores [samples] or [runs, samples] would vary with other images: s / √n, s with n − 1.

    Runs are averaged first; nan does not count. With `groups`, one label per sample, whole groups vary together (the estimator
    of clustered means). nan for fewer than two samples or groups.

    >>> from snellen.measure import standard_error
    >>> standard_error([0, 1] * 50)
    0.050251890762960605
    """
    runs = as_runs(scores).astype(np.float64)
    counted = ~np.isnan(runs)
    known = counted.any(0)
    scored = np.nansum(runs, 0)[known] / counted.sum(0)[known]
    deviations = scored - scored.mean() if len(scored) else scored
    if groups is not None:
        deviations = sum_by_group(deviations[:, None], np.asarray(groups)[known])[:, 0] if len(scored) else deviations
    units = len(deviations)
    if units < 2:
        return nan
    return sqrt(float(np.square(deviations).sum()) * units / (units - 1)) / len(scored)


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates, each of the same weight however many samples stand behind it.

    Its interval follows from theirs (Zou & Donner 2008, MOVER): below the mean by the root of the summed squares of what each
    lies above its own lower end, divided by their number; likewise above. `n` is the number of all samples. Where one has no
    data there is no mean; where one has no interval there is none.

    >>> from snellen.measure import accuracy, mean_estimate
    >>> found = mean_estimate([accuracy([1, 1, 1, 0]), accuracy([1, 0, 0, 0])])
    >>> found.value, found.n
    (0.5, 8)
    """
    if not estimates or any(estimate.n == 0 for estimate in estimates):
        return NO_DATA
    count = len(estimates)
    value = fsum(estimate.value for estimate in estimates) / count
    below = sqrt(fsum((estimate.value - estimate.low) ** 2 for estimate in estimates)) / count
    above = sqrt(fsum((estimate.high - estimate.value) ** 2 for estimate in estimates)) / count
    samples = sum(estimate.n for estimate in estimates)
    if below != below or above != above:
        return Estimate(value, nan, nan, samples)
    return Estimate(value, value - below, value + above, samples)


def alike_change(cells: Sequence[Estimate], weights: Floats, change: Estimate) -> Estimate:
    """A `change`, the sum of `cells` times `weights`, with the interval that follows from those of the cells (MOVER).

    It is for changes whose resamples show no spread: where all answers of a cell are alike its accuracy still has Wilson's.
    """
    used = [(cell, weight) for cell, weight in zip(cells, weights, strict=True) if weight]
    ends = [sorted((weight * (cell.low - cell.value), weight * (cell.high - cell.value))) for cell, weight in used]
    below, above = np.sqrt(np.square(ends).sum(0))
    return replace(change, low=float(change.value - below), high=float(change.value + above))
