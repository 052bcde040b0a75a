"""Few samples or groups, or groups of uneven size: how far an interval must reach.

The spread of few units is itself uncertain, which Student's t accounts for. Where groups differ in size, the largest of them
make most of the mean and of its spread at once, and no law in a book fits. Then the reach is simulated: normal values of
groups of these very sizes, once all equally far apart and once as means of so many independent images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
UnitSizes = int | NDArray[np.int64]  # how many of equal size, or the samples of each

_Z = 1.959963984540054  # the normal quantile of 97.5%
_MANY = 50  # degrees by Satterthwaite from which they are taken as they are: 2.5% beyond the normal quantile
_DRAWS = (1_000, 4_000)  # simulated means, at least and at most
_ELEMENTS = 1_000_000  # groups · draws to aim at, and to hold in memory


@dataclass(frozen=True)
class _Reach:
    """The 97.5% quantile of a mean: `factor` times the normal one in spreads of resamples, Student's of `degrees` in errors."""

    factor: float
    degrees: float


def sizes_of(groups: ArrayLike | None, samples: int) -> UnitSizes:
    """The number of samples, or the sizes of their groups."""
    return samples if groups is None else np.unique(np.asarray(groups), return_counts=True)[1]


def few_factor(units: UnitSizes) -> float:
    """By how much the middle 95% of resamples is too narrow: √(n / (n − 1)) · t / z for n units of equal size.

    t is Student's 97.5% quantile of n − 1 degrees in place of the normal one, of an unbiased spread. Groups of uneven size have
    more. A single unit shows no spread: nan.
    """
    return _reach(units).factor


def degrees_of(units: UnitSizes) -> float:
    """Degrees of freedom of a mean over its error by `left_out_variance`: n − 1 for units of equal size, else fewer."""
    return _reach(units).degrees


def fewest(*sides: UnitSizes) -> UnitSizes:
    """Of several sides of one number, such as train and test images, the one that must be widened most."""
    return max(sides, key=few_factor)


def effective_number(units: UnitSizes) -> float:
    """How many groups of equal size would tell as much: (Σ size)² / Σ size² (Kish 1965)."""
    if isinstance(units, int):
        return float(units)
    if not len(units):
        return 0.0
    return float(units.sum()) ** 2 / float(np.square(units.astype(np.float64)).sum())


def widen(value: float, middle: tuple[float, float], units: UnitSizes) -> tuple[float, float]:
    """The middle 95% of resamples of `units` samples or groups as an interval that holds what it promises.

    Its ends are moved away from the `value` by a factor: 1.58 for 5 units, 1.22 for 10, 1.10 for 20, 1.02 for 100. For a mean
    that is Student's interval, but as lopsided as the resamples are.
    """
    factor, (low, high) = few_factor(units), middle
    return value - factor * (value - low), value + factor * (high - value)


def left_out_variance(sums: Floats, counts: Floats) -> tuple[float, Floats]:
    """The variance of a mean of units [units] by leaving out one at a time (jackknife), and the square that each adds.

    Where units differ in size that is more careful than the variance of a ratio.
    """
    without = (sums.sum() - sums) / (counts.sum() - counts)
    squares = np.square(without - sums.sum() / counts.sum())
    return float(squares.sum()) * (len(squares) - 1) / len(squares), squares


def student(degrees: float, level: float = 0.975) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, level))


def _reach(units: UnitSizes) -> _Reach:
    if isinstance(units, int):
        return _even(units)
    if len(units) < 2 or np.ptp(units) == 0:
        return _even(len(units))
    return _uneven(tuple(sorted(units.tolist())))


@lru_cache(maxsize=1024)
def _even(units: int) -> _Reach:
    if units < 2:
        return _Reach(nan, nan)
    return _Reach(sqrt(units / (units - 1)) * student(units - 1) / _Z, units - 1)


@lru_cache(maxsize=256)
def _uneven(sizes: tuple[int, ...]) -> _Reach:
    """As for units of even size, times what the same draws of uneven ones reach beyond those of even ones; never less."""
    even, part = _even(len(sizes)), np.array(sizes, np.float64) / sum(sizes)
    fewest = float(np.square(part).sum()) ** 2 / float((part**4).sum())
    if fewest >= _MANY:
        degrees = min(even.degrees, fewest)
        return _Reach(max(even.factor, sqrt(1 + 1 / degrees) * student(degrees) / _Z), degrees)
    alike, apart = np.ones(len(part)), 1 / np.sqrt(part)
    beyond = np.maximum(_quantiles(part, alike), _quantiles(part, apart))
    beyond = np.maximum(beyond / _even_quantiles(len(part)), 1.0)
    return _Reach(float(beyond[0]) * even.factor, _degrees_with(float(beyond[1]) * student(even.degrees), even.degrees))


@lru_cache(maxsize=256)
def _even_quantiles(groups: int) -> Floats:
    return _quantiles(np.full(groups, 1 / groups), np.ones(groups))


def _quantiles(part: Floats, spread: Floats) -> Floats:
    """What 5% of |means| exceed, in spreads of resamples and in errors by `left_out_variance`; `part` [groups] sums to 1."""
    draws = int(np.clip(_ELEMENTS // len(part), *_DRAWS))
    reached = np.concatenate([_reached(values * spread, part) for values in _normal(len(part), draws)])
    return np.asarray(np.quantile(reached, 0.95, axis=0))


def _normal(groups: int, draws: int) -> Iterator[Floats]:
    random, block = np.random.default_rng(0), max(1, _ELEMENTS // groups)
    for start in range(0, draws, block):
        yield random.normal(size=(min(block, draws - start), groups))


def _reached(values: Floats, part: Floats) -> Floats:
    """|Means| of groups [draws, groups] over the spread of their resamples and over their error, [draws, 2]."""
    means = values @ part
    squares = np.square((values - means[:, None]) * part)
    spread, error = squares.sum(1), (squares / np.square(1 - part)).sum(1) * (len(part) - 1) / len(part)
    return np.abs(means)[:, None] / np.sqrt(np.stack([spread, error], axis=1))


def _degrees_with(quantile: float, most: float) -> float:
    """The degrees at which Student's t has this 97.5% quantile, `most` at most."""
    from scipy.optimize import brentq

    if quantile <= student(most):
        return most
    return float(brentq(lambda degrees: student(degrees) - quantile, 0.2, most))
