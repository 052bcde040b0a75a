"""Comparing two models on the same images, and many comparisons at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import paired_difference, sum_by_group
from snellen.measure.estimate import Estimate, as_runs
from snellen.measure.few_units import degrees_of, left_out_variance, sizes_of, student

_LEVEL = 0.05
_POWER = 0.8
_ALIKE = 1e-12  # a standard error that is rounding only


@dataclass(frozen=True)
class Comparison(Estimate):
    """Mean of one side less mean of the other; `p` two-sided, before any correction for many tests.

    `detectable` is the smallest true difference that data like these would show (p < 0.05) in 80% of cases, where this is the
    only test; `detectable_among` that of one test among many. `error` is the standard error, of `units` samples or groups. It
    has `degrees` of freedom, `units` − 1 unless groups differ in size.
    """

    p: float
    detectable: float
    error: float = nan
    units: int = 0
    degrees: float = nan

    def detectable_among(self, tests: int) -> float:
        """The smallest true difference that is shown in 80% of cases, where p-values are corrected for `tests` (`holm`).

        The smallest of m p-values is held against 0.05 / m by Holm's rule as by Bonferroni's; where other differences are
        shown as well, Holm's shows this one rather more often.
        """
        return detectable_difference(self.error, self.units, tests, self.degrees)


def compare(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None) -> Comparison:
    """Whether two models differ on the same samples: scores [samples] or [runs, samples], nan where not counted.

    The interval is a paired bootstrap; `p` is that of the mean paired difference over its standard error (for right or
    wrong answers McNemar's test), over groups where they are given, by Student's t. Groups of uneven size have fewer degrees of
    freedom (`few_units`). It is never below that of a sign test of so many right or wrong answers, all for one side. Where all
    differences are alike `p` is that of the sign test, and the error follows from the interval. Runs are averaged: it is about
    these runs, not about others of the same recipe.

    >>> from snellen.measure import compare
    >>> found = compare([1] * 30 + [0] * 10, [1] * 20 + [0] * 20)
    >>> found.value, found.p < 0.05
    (0.25, True)
    """
    estimate = paired_difference(a, b, groups)
    first, second = (_mean_over_runs(scores) for scores in (a, b))
    difference = (first - second)[~np.isnan(first - second)]
    kept = None if groups is None else np.asarray(groups)[~np.isnan(first - second)]
    columns = np.stack([difference, np.ones(len(difference))], axis=1)
    columns = columns if kept is None else sum_by_group(columns, kept)
    units = len(columns)
    if units < 2:
        return Comparison(estimate.value, estimate.low, estimate.high, estimate.n, nan, nan, nan, units)
    degrees = degrees_of(sizes_of(kept, units))
    error = sqrt(left_out_variance(*columns.T)[0])
    if error <= _ALIKE:
        error = (estimate.high - estimate.low) / 2 / student(degrees)
        p = 1.0 if abs(estimate.value) <= _ALIKE else sign_test(units)
    else:
        p = _two_sided(estimate.value, error, degrees)
        if groups is None and np.isin(difference, (-1, 0, 1)).all():
            p = max(p, sign_test(units))
    reach = detectable_difference(error, units, degrees=degrees)
    return Comparison(estimate.value, estimate.low, estimate.high, estimate.n, p, reach, error, units, degrees)


def sign_test(units: int) -> float:
    """The two-sided p of `units` differences, all of one sign: the smallest that so many can have."""
    return float(min(1.0, 2 * 0.5**units))


def detectable_difference(error: float, units: int, tests: int = 1, degrees: float = nan) -> float:
    """The true difference that gives p < 0.05 after a correction for `tests` in 80% of cases; nan for fewer than two units.

    `degrees` of freedom are `units` − 1 unless given, as for groups of uneven size.

    >>> from snellen.measure import detectable_difference
    >>> round(detectable_difference(error=0.02, units=1000), 3)
    0.056
    """
    if units < 2:
        return nan
    free = units - 1 if isnan(degrees) else degrees
    return (student(free, 1 - _LEVEL / (2 * max(tests, 1))) + student(free, _POWER)) * error


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values corrected for their number by Holm's step-down rule; nan stays nan and does not count.

    >>> from snellen.measure import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, nan)
    order = [i for i in np.argsort(values, kind="stable") if not np.isnan(values[i])]
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, values[i] * (len(order) - rank)))
        corrected[i] = largest
    return corrected


def _mean_over_runs(scores: ArrayLike) -> NDArray[np.float64]:
    runs = as_runs(scores).astype(np.float64)
    counted = ~np.isnan(runs)
    return np.divide(np.nansum(runs, 0), counted.sum(0), out=np.full(runs.shape[1], nan), where=counted.any(0))


def _two_sided(value: float, error: float, degrees: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(value) / error))
