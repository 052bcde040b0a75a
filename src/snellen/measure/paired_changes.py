"""Whether a model became worse than a bound allows: two models on the same images, one-sided, for gates.

Right or wrong answers of single images are held against a bound by the score of Tango (1998), which for a bound of 0 is McNemar's
test, there exact; scores, runs and groups by Student's t of the mean paired difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bound_test import BoundTest, t_test
from snellen.measure.comparison import Comparison, compare
from snellen.measure.estimate import as_runs
from snellen.measure.few_units import student

_LEVEL, _POWER = 0.025, 0.8


@dataclass(frozen=True)
class PairedBound:
    """A mean paired `difference` (first less second), its one-sided p-values at a bound, and the images it rests on.

    `per_unit` is the variance that one image more would have to bring, over their number and with the groups' share.
    """

    difference: Comparison
    test: BoundTest
    per_unit: float

    def drop_among(self, tests: int) -> float:
        """The smallest true change beyond the bound that is shown in 80% of cases, corrected for so many `tests`.

        A change brings differing answers of its own, which add to those that are there anyway (Connor 1987); and whole answers
        are counted, so one image more is asked for.
        """
        if self.difference.units < 2 or np.isnan(self.difference.degrees):
            return nan
        degrees = self.difference.degrees
        reach = (student(degrees, 1 - _LEVEL / max(tests, 1)) + student(degrees, _POWER)) ** 2
        there = self.difference.error**2 - self.per_unit * abs(self.difference.value)
        added = reach * self.per_unit
        return (added + sqrt(added**2 + 4 * reach * max(there, 0.0))) / 2 + self.per_unit


def paired_bound(a: ArrayLike, b: ArrayLike, bound: float = 0.0, groups: ArrayLike | None = None) -> PairedBound:
    """Whether the mean of `a` less that of `b` on the same samples lies below or above a bound.

    Scores are [samples] or [runs, samples], nan where not counted; `groups` has one label per sample, such as its video. Interval
    and error are those of `compare`. For right or wrong answers of one run each without groups both p-values are the larger of
    `tango` and Student's, or `mcnemar`'s where the bound is 0.

    >>> from snellen.measure import paired_bound
    >>> found = paired_bound([1] * 30 + [0] * 10, [1] * 20 + [0] * 20)
    >>> found.difference.value, found.test.above < 0.05
    (0.25, True)
    """
    difference = compare(a, b, groups)
    each, kept = _differences(a, b, groups)
    if difference.units < 2:
        return PairedBound(difference, BoundTest(nan, nan), nan)
    test = _student(difference, bound)
    if kept is None and np.isin(each, (-1, 0, 1)).all() and len(as_runs(a)) == len(as_runs(b)) == 1:
        more, less = int((each == 1).sum()), int((each == -1).sum())
        if bound == 0:
            test = mcnemar(more, less)
        else:
            score = tango(more, less, len(each), bound)
            test = BoundTest(max(test.below, score.below), max(test.above, score.above))
    spread = float(np.var(each, ddof=1)) / len(each)
    design = difference.error**2 / spread if spread > 0 else len(each) / difference.units
    return PairedBound(difference, test, max(design, 1.0) / len(each))


def mcnemar(more: int, less: int) -> BoundTest:
    """McNemar's exact test of so many samples that only the first, and only the second, got right (McNemar 1947)."""
    from scipy.special import bdtr

    both = more + less
    if not both:
        return BoundTest(1.0, 1.0)
    return BoundTest(float(bdtr(more, both, 0.5)), float(bdtr(less, both, 0.5)))


def tango(more: int, less: int, n: int, bound: float) -> BoundTest:
    """The score test that (more − less) / n differs from a bound, the truth as likely as it allows (Tango 1998)."""
    from scipy.special import ndtr

    if not -1 < bound < 1:
        return BoundTest(nan, nan)
    b = -more - less + (2 * n - more + less) * bound
    share = (sqrt(max(b**2 + 8 * n * less * bound * (1 - bound), 0.0)) - b) / (4 * n)  # of `less`, were the bound true
    variance = n * (2 * share + bound * (1 - bound))
    away = more - less - n * bound
    if variance <= 0:
        return BoundTest(*((0.5, 0.5) if away == 0 else (1.0, 0.0) if away > 0 else (0.0, 1.0)))
    return BoundTest(float(ndtr(away / sqrt(variance))), float(ndtr(-away / sqrt(variance))))


def _student(difference: Comparison, bound: float) -> BoundTest:
    error = difference.error
    if not error > 0:
        return BoundTest(nan, nan)
    return t_test(difference.value - bound, error, difference.degrees if difference.degrees > 0 else inf)


def _differences(
    a: ArrayLike, b: ArrayLike, groups: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.generic] | None]:
    """The differences of the samples that count on both sides, and the groups of these."""
    with np.errstate(invalid="ignore"):
        first, second = (_means(as_runs(scores).astype(np.float64)) for scores in (a, b))
    counted = ~np.isnan(first - second)
    return (first - second)[counted], None if groups is None else np.asarray(groups)[counted]


def _means(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    counted = ~np.isnan(runs)
    return np.divide(np.nansum(runs, 0), counted.sum(0), out=np.full(runs.shape[1], nan), where=counted.any(0))
