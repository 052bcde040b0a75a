"""Accuracy with an honest interval: of these runs on other images, or of the recipe that made them."""

from __future__ import annotations

from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import keep, sum_by_group
from snellen.measure.edges import wilson
from snellen.measure.estimate import NO_DATA, Estimate, as_runs, sums_and_counts
from snellen.measure.few_units import UnitSizes, degrees_of, effective_number, left_out_variance, sizes_of, student


def accuracy(correct: ArrayLike, groups: ArrayLike | None = None) -> Estimate:
    """The mean score, and how sure the samples make us of it.

    `correct` is [samples] or [runs, samples] of 0/1 or of scores in [0, 1]; nan entries are excluded samples and do
    not count. `n` is the number of samples, however many the runs. The interval is about these runs on other images, not
    about other runs of the same recipe (`recipe_accuracy`).

    Without `groups` and where every sample is simply right or wrong (one run, or runs that agree), the interval is
    Wilson's. Else it is Student's, of the spread over samples, on the scale of log odds, which keeps it within 0 and 1. With
    `groups`, one label per sample such as its video, it is of the spread over groups; a single group gives a nan interval.

    >>> from snellen.measure import accuracy
    >>> found = accuracy([1, 1, 1, 0])
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.75, 0.3, 0.95)
    """
    _check_scores(correct)
    columns = sums_and_counts(correct)
    columns, groups = keep(columns, groups, columns[:, 1] > 0)
    if not len(columns):
        return NO_DATA
    score, runs = columns.T
    value = float(score.sum() / runs.sum())
    right_or_wrong = np.all((score == 0) | (score == runs)) and np.all(runs == runs[0])
    if groups is None and right_or_wrong:
        return Estimate(value, *wilson(value, len(columns)), len(columns))
    units = columns if groups is None else sum_by_group(columns, groups)
    if len(units) < 2:
        return Estimate(value, nan, nan, len(columns))
    sizes = sizes_of(groups, len(columns))
    variance, degrees = _spread(units, sizes)
    half = student(degrees) * sqrt(variance)
    return Estimate(value, *_log_odds_interval(value, half, sizes), len(columns))


def recipe_accuracy(correct: ArrayLike, groups: ArrayLike | None = None) -> Estimate:
    """The same mean, with an interval for the recipe: other runs of it on other images.

    `correct` [runs, samples] as in `accuracy`. Runs and images are two samples at once: the variance is that of the runs' means,
    by their number, and that of the images, less what is in both. Each part has its own quantile of Student's t, so that few runs
    make a wide interval if the spread over runs matters, and only then (Zou & Donner 2008). It is on the scale of log odds, as
    that of `accuracy`. One run gives a nan interval: it tells nothing about others.

    >>> from snellen.measure import recipe_accuracy
    >>> runs = [[1, 1, 1, 0, 1, 1, 0, 1], [1, 1, 0, 0, 1, 1, 0, 1]]
    >>> recipe_accuracy(runs).value
    0.6875
    >>> recipe_accuracy(runs[:1]).low  # one run tells nothing about others
    nan
    """
    estimate = accuracy(correct, groups)
    scores = as_runs(correct).astype(np.float64)
    counted = ~np.isnan(scores).any(axis=0)
    runs, scores = len(scores), scores[:, counted]
    members = np.arange(scores.shape[1]) if groups is None else np.asarray(groups)[counted]
    sizes = sizes_of(None if groups is None else members, len(members))
    if runs < 2 or len(np.unique(members)) < 2:
        return Estimate(estimate.value, nan, nan, estimate.n)

    def over_images(each: NDArray[np.float64]) -> tuple[float, float]:
        columns = np.stack([each, np.ones(len(each))], axis=1)
        return _spread(columns if groups is None else sum_by_group(columns, members), sizes)

    mean = scores.mean(axis=0)
    of_runs, (of_images, degrees) = float(scores.mean(axis=1).var(ddof=1)) / runs, over_images(mean)
    of_both = sum(over_images(run_scores - mean)[0] for run_scores in scores) / (runs * (runs - 1))
    # What runs and images share is in both variances: once is enough.
    half = sqrt(student(runs - 1) ** 2 * of_runs + student(degrees) ** 2 * max(of_images - of_both, 0.0))
    return Estimate(estimate.value, *_log_odds_interval(estimate.value, half, sizes), estimate.n)


def _spread(units: NDArray[np.float64], sizes: UnitSizes) -> tuple[float, float]:
    """The variance of a mean, and how many degrees of freedom it has: `units` [units, 2] of sums and counts.

    Where a few units make most of the variance (a single bad video among good ones) it is less sure than their number tells:
    degrees follow from the kurtosis κ of what units contribute, 2 (n − 1) / (κ − 1) − 1, and are at most those of their sizes.
    """
    variance, square = left_out_variance(*units.T)
    most = degrees_of(sizes)
    excess = float(np.mean(square**2)) - float(np.mean(square)) ** 2  # κ − 1, times the squared mean square
    degrees = 2 * (len(units) - 1) * float(np.mean(square)) ** 2 / excess - 1 if excess > 0 else most
    return variance, min(most, max(1.0, degrees))


def _log_odds_interval(value: float, half: float, sizes: UnitSizes) -> tuple[float, float]:
    """value ± half on the scale of log odds. Where all is right, or all wrong, Wilson's with each unit as one trial."""
    if not 0 < value < 1:
        return wilson(value, effective_number(sizes), student(degrees_of(sizes)))
    centre, half = log(value / (1 - value)), half / (value * (1 - value))
    return _share(centre - half), _share(centre + half)


def _share(log_odds: float) -> float:
    if log_odds < 0:
        return exp(max(log_odds, -700.0)) / (1 + exp(max(log_odds, -700.0)))
    return 1 / (1 + exp(-min(log_odds, 700.0)))


def _check_scores(correct: ArrayLike) -> None:
    scores = np.asarray(correct, dtype=np.float64)
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size:
        raise ValueError(f"expected scores in [0, 1], got {outside[0]:g}")
