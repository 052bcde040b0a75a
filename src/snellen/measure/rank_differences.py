"""Which of many models differ: Friedman's test, then Nemenyi's of all pairs, as in the diagrams of Demšar (2006)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.friedman_test import Friedman, friedman

_LEVEL = 0.05


@dataclass(frozen=True)
class CriticalDifference:
    """Friedman's `test`, the `critical` difference of mean ranks, and Nemenyi's `p` [models, models] of each pair.

    `alike` are the largest sets of models, by place and in the order of their ranks, of which no two differ by more than it: the
    bars of a diagram. p-values are corrected over all pairs; they hold for other judges like these.
    """

    test: Friedman
    critical: float
    p: NDArray[np.float64] = field(compare=False)
    alike: tuple[tuple[int, ...], ...]


def critical_difference(accuracy: ArrayLike) -> CriticalDifference:
    """The models of accuracy [models, judges] in rank order and which of them differ; a judge with a nan does not count.

    CD = q √(k (k + 1) / 6 n) for k models and n judges, q the 95% quantile of the studentised range over √2 (Demšar 2006, 3.2.2).

    >>> from snellen.measure import accuracy, critical_difference
    >>> accuracy = [[0.9, 0.8, 0.9], [0.7, 0.7, 0.6], [0.5, 0.6, 0.4]]
    >>> round(critical_difference(accuracy).critical, 3)
    1.914
    """
    test = friedman(accuracy)
    models, judges = test.ranks.shape
    if models < 2 or judges < 2:
        return CriticalDifference(test, nan, np.full((models, models), nan), ())
    from scipy.stats import studentized_range

    error = sqrt(models * (models + 1) / (6 * judges))
    critical = float(studentized_range.ppf(1 - _LEVEL, models, np.inf)) / sqrt(2) * error
    apart = np.abs(test.mean_ranks[:, None] - test.mean_ranks[None])
    p = np.asarray(studentized_range.sf(apart / error * sqrt(2), models, np.inf), np.float64)
    return CriticalDifference(test, critical, p, _alike(test.mean_ranks, critical))


def _alike(ranks: NDArray[np.float64], critical: float) -> tuple[tuple[int, ...], ...]:
    """The runs of models in rank order whose ends are within the critical difference, none inside another."""
    order = np.argsort(ranks, kind="stable")
    bars: list[tuple[int, ...]] = []
    reached = -1
    for start in range(len(order)):
        near = np.flatnonzero(ranks[order] - ranks[order[start]] <= critical)
        stop = int(near[-1])
        if stop > reached and stop > start:
            bars.append(tuple(int(place) for place in order[start : stop + 1]))
        reached = max(reached, stop)
    return tuple(bars)
