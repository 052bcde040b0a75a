"""On which side of a bound the truth lies: one-sided p-values of a number by its interval, for gates.

A bound of a gate is held against many numbers at once, so p-values must be right far out, where an interval of 95% says little.
A share's are therefore exact binomial ones, for as many images as its interval is worth (Korn & Graubard 1998); those of other
numbers are Student's.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, log, nan

from snellen.measure.edges import wilson
from snellen.measure.estimate import Estimate
from snellen.measure.few_units import student

_Z = 1.959963984540054  # the normal quantile of 97.5%
_LEVEL, _POWER = 0.025, 0.8
_SAME = 1e-9


@dataclass(frozen=True)
class BoundTest:
    """One-sided p-values: `below` is small where the truth clearly lies below the bound, `above` where clearly above.

    nan where nothing can be said.
    """

    below: float
    above: float


def share_test(estimate: Estimate, bound: float) -> BoundTest:
    """A share against a bound, by the binomial law of `worth_images` (Clopper & Pearson 1934).

    A bound of 0 or 1 is logic: one wrong answer disproves a share of 1.

    >>> from snellen.measure import accuracy, share_test
    >>> share_test(accuracy([1] * 90 + [0] * 10), 0.95).below < 0.05  # 90 of 100 are too few for 95 %
    True
    """
    value, n = estimate.value, worth_images(estimate)
    if isnan(value) or isnan(n):
        return BoundTest(nan, nan)
    if not 0 < bound < 1:
        return BoundTest(float(value >= bound), float(value <= bound))
    from scipy.special import betainc

    right = value * n
    below = 1.0 if right >= n else float(betainc(n - right, right + 1, 1 - bound))
    above = 1.0 if right <= 0 else float(betainc(right, n - right + 1, bound))
    return BoundTest(below, above)


def worth_images(estimate: Estimate) -> float:
    """How many images, each right or wrong on its own, would give a share this interval; nan where it has none.

    For plain right or wrong answers that is their number; for videos, or for the mean of several runs, another.
    """
    value, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    if isnan(low) or isnan(high) or not n:
        return nan
    plain = wilson(value, n)
    if abs(plain[0] - low) < _SAME and abs(plain[1] - high) < _SAME:
        return float(n)
    if not 0 < value < 1:
        seen = low if value >= 1 else 1 - high
        return _Z**2 * seen / (1 - seen) if seen < 1 else inf
    if not 0 < low < high < 1:
        return nan
    half = (log(high / (1 - high)) - log(low / (1 - low))) / 2
    return (_Z / half) ** 2 / (value * (1 - value))


def interval_test(estimate: Estimate, bound: float, degrees: float = inf) -> BoundTest:
    """A number against a bound, by the end of its interval that lies towards the bound: Student's t of `degrees`.

    >>> from snellen.measure import interval_test, paired_difference
    >>> interval_test(paired_difference([1] * 40, [0] * 20 + [1] * 20), 0).above < 0.05
    True
    """
    away = estimate.value - bound
    end = estimate.low if away > 0 else estimate.high
    if isnan(estimate.value) or isnan(end):
        return BoundTest(nan, nan)
    reach = abs(estimate.value - end)
    if reach <= 0:
        return BoundTest(*((0.5, 0.5) if away == 0 else (1.0, 0.0) if away > 0 else (0.0, 1.0)))
    return t_test(away, reach / student(degrees), degrees)


def t_test(away: float, error: float, degrees: float) -> BoundTest:
    """A difference from a bound over its standard error, by Student's t."""
    from scipy.special import stdtr

    return BoundTest(float(stdtr(degrees, away / error)), float(stdtr(degrees, -away / error)))


def units_to_decide(away: float, error: float, units: float, tests: int = 1) -> float:
    """How many units, images or groups, would decide in 80% of cases, were the truth as far from the bound as what was seen.

    `error` is the standard error of what `units` gave. A decision is one-sided at 2.5% over the number of `tests`. What lies on
    the bound is never decided: inf.
    """
    if isnan(error) or isnan(away):
        return nan
    if away == 0:
        return inf
    needed = student(inf, 1 - _LEVEL / max(tests, 1)) + student(inf, _POWER)
    return units * (needed * error / away) ** 2
