"""Pairs of answerers: what sums over images say of them, and how far each image moves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.measure.joint_bootstrap import Floats, ratio


def pair_columns(first: Floats, second: Floats) -> Floats:
    """What each image adds for each pair of rows, [images, 4, pairs]."""
    both = ~np.isnan(first) & ~np.isnan(second)
    one, other = (np.where(both, rows, 0.0) for rows in (first, second))
    return np.stack([both.astype(np.float64), one, other, one * other]).transpose(2, 0, 1)


@dataclass(frozen=True)
class Pairs:
    """What sums over images say of pairs, each [m, pairs]."""

    kappa: Floats
    observed: Floats
    expected: Floats
    first: Floats
    second: Floats

    @classmethod
    def of(cls, sums: Floats) -> Pairs:
        """From sums [m, 4, pairs] of what both answered, of either's right answers among them, and of both right."""
        shared, one, other, both = (sums[:, place] for place in range(4))
        first, second = ratio(one, shared), ratio(other, shared)
        observed = ratio(shared - one - other + 2 * both, shared)
        expected = first * second + (1 - first) * (1 - second)
        varies = (first > 0) & (first < 1) & (second > 0) & (second < 1)
        kappa = ratio(observed - expected, np.where(varies, 1 - expected, 0.0))
        return cls(kappa, observed, expected, first, second)

    def means(self) -> Sequence[Floats]:
        """In the order of the fields of ErrorConsistency: the value, then observed to second."""
        least, most = np.abs(self.first + self.second - 1), 1 - np.abs(self.first - self.second)
        with np.errstate(invalid="ignore", divide="ignore"):
            lowest, highest = ((end - self.expected) / (1 - self.expected) for end in (least, most))
        return self.kappa, self.observed, self.expected, lowest, highest, self.first, self.second


def influence(units: Floats) -> Floats:
    """By how much each unit moves the kappa of each pair, to first order, [units, pairs]."""
    shared, one, other, both = (units[:, place] for place in range(4))
    whole = Pairs.of(units.sum(0)[None])
    first, second, expected = whole.first[0], whole.second[0], whole.expected[0]
    off_first, off_second = one - first * shared, other - second * shared
    observed = shared - one - other + 2 * both - whole.observed[0] * shared
    moved = off_first * (2 * second - 1) + off_second * (2 * first - 1)  # of what is expected
    return (observed - moved * (1 - whole.kappa[0])) / (1 - expected) / shared.sum(0)
