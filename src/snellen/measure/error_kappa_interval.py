"""The interval of a mean kappa: a bootstrap over images, widened where the answerers are people who were drawn too."""

from __future__ import annotations

from math import nan, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from snellen.measure.answerer_pairs import Pairs, influence
from snellen.measure.bootstrap import resampled_sums, sum_by_group
from snellen.measure.few_units import effective_number, few_factor, sizes_of, student
from snellen.measure.joint_bootstrap import Floats, ratio

_NORMAL = NormalDist()
_Z = 1.959963984540054  # the normal quantile of 97.5%


def consistency_interval(
    columns: Floats,
    value: float,
    expected: float,
    labels: NDArray[Any] | None,
    without: Floats | None,
    draws: tuple[int, int],
) -> tuple[float, float]:
    """The 95% interval of the mean kappa of `columns` [images, 4, pairs].

    `without` as in `_people_factor`, None where nobody is drawn; `draws` are repeats and seed.
    """
    sizes = sizes_of(labels, len(columns))
    flat = columns.reshape(len(columns), -1)
    units = flat if labels is None else sum_by_group(flat, labels)
    if len(units) < 2 or not draws[0]:
        return nan, nan
    by_pair = _by_pair(units)
    found = np.concatenate([_mean(Pairs.of(_by_pair(sums)).kappa) for sums in resampled_sums(units, *draws)])
    factor = max(few_factor(sizes), few_factor(max(2, _telling(columns))))
    if without is not None:
        factor *= _people_factor(by_pair, without, found)
    low, high = (value + factor * (end - value) for end in _ends(found, value, influence(by_pair).mean(1)))
    if high - low <= 1e-12:  # such as equal answers everywhere: a share of images that was not seen may differ
        reach = (1 - 0.025 ** (1 / effective_number(sizes))) / (1 - expected)
        low, high = value - reach, value + reach
    return max(-1.0, low), min(1.0, high)


def _ends(draws: Floats, value: float, moved: Floats) -> tuple[float, float]:
    """The 95% interval of draws of a lopsided value, bias-corrected and accelerated (Efron 1987).

    Few errors that two share make kappa and its spread small at once, so that plain percentiles end too low.
    """
    known = draws[~np.isnan(draws)]
    if not len(known):
        return nan, nan
    below = (np.sum(known < value) + np.sum(known == value) / 2 + 0.5) / (len(known) + 1)
    bias, spread = _NORMAL.inv_cdf(float(below)), float(np.square(moved).sum())
    speed = float((moved**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = (bias + sign * _Z for sign in (-1, 1))
    low, high = np.quantile(known, [_NORMAL.cdf(bias + end / max(1 - speed * end, 0.1)) for end in shifted])
    return float(low), float(high)


def _telling(columns: Floats) -> int:
    """How many images some answerer got wrong, or right where those are fewer: kappa rests on them."""
    wrong = (columns[:, 1:3] < columns[:, :1]).any((1, 2)).sum()
    return int(min(wrong, (columns[:, 1:3] > 0).any((1, 2)).sum()))


def _people_factor(units: Floats, without: Floats, draws: Floats) -> float:
    """By how much an interval over images, of `draws` of the value, must be wider because people were drawn too.

    `units` [images or groups, 4, pairs]; `without` [people, pairs] says which pairs are left without each. The variance over
    people is a jackknife's. It holds the luck of people with single images, which that over images has already: as much of it as
    the same jackknife gives for each image by itself (two-way clustering, Cameron et al. 2011).
    """
    spread = float(np.nanvar(draws))
    people = len(without)
    if people < 3 or not spread > 0:
        return 1.0
    kappa = Pairs.of(units.sum(0)[None]).kappa[0]
    share = ratio(without, without.sum(1, keepdims=True))  # [people, pairs]: the weights of the mean without each
    each = np.concatenate([(share @ kappa)[None], influence(units) @ share.T])  # [1 + units, people]
    variances = (people - 1) / people * np.square(each - np.nanmean(each, 1, keepdims=True))
    over_people, of_luck = float(np.nansum(variances[0])), float(np.nansum(variances[1:]))
    beyond = max(0.0, over_people - of_luck) * (student(people - 1) / _Z) ** 2
    return sqrt(1 + beyond / spread)


def _by_pair(sums: Floats) -> Floats:
    return sums.reshape(len(sums), 4, -1)


def _mean(kappa: Floats) -> Floats:
    """The mean over pairs that have a value, [m, pairs] → [m]."""
    known = ~np.isnan(kappa)
    return ratio(np.where(known, kappa, 0.0).sum(1), known.sum(1).astype(np.float64))
