"""Bounds of a ratio: by hand, with a bias, with infinite and unknown resamples."""

from math import inf, isnan, nan

import numpy as np
import pytest
from scipy import stats

from snellen.measure.few_units import few_factor
from snellen.measure.iocclusion_ratio import clear_of_zero, ratio_bounds

MANY = 10**6  # units: nothing is widened


def test_without_a_bias_they_are_the_middle_95_percent():
    assert ratio_bounds(500.0, np.arange(1001.0), MANY) == pytest.approx((25, 975), abs=1.01)


def test_a_value_below_most_resamples_moves_the_lower_bound_alone():
    # 300 of 1,001 resamples lie below: z0 = −0.524, so the lower bound is at Φ(2 z0 − 1.96) = 0.0013 and not at 0.025.
    low, high = ratio_bounds(300.0, np.arange(1001.0), MANY)
    assert low == pytest.approx(1000 * stats.norm.cdf(2 * stats.norm.ppf(0.3) - 1.96), abs=1.01)
    assert high == pytest.approx(975, abs=1)
    # A value above most of them is no reason to move up.
    assert ratio_bounds(700.0, np.arange(1001.0), MANY)[0] == pytest.approx(25, abs=1)


def test_few_units_widen_them():
    low, high = ratio_bounds(500.0, np.arange(1001.0), 5)
    assert (500 - low, high - 500) == pytest.approx((475 * few_factor(5), 475 * few_factor(5)), abs=2)


def test_infinite_resamples_end_at_infinity_and_unknown_ones_count_at_both_ends():
    draws = np.r_[np.arange(960.0), np.full(40, inf)]
    assert ratio_bounds(480.0, draws, MANY)[1] == inf
    assert ratio_bounds(480.0, np.r_[np.arange(960.0), np.full(40, nan)], MANY) == (-inf, inf)
    assert isnan(ratio_bounds(nan, draws, MANY)[0])
    assert isnan(ratio_bounds(1.0, np.empty(0), MANY)[0])
    assert isnan(ratio_bounds(1.0, draws, 1)[0])


def test_a_gap_is_clear_where_hardly_a_resample_has_the_other_sign():
    draws = np.stack([np.linspace(-1, 60, 1000), np.linspace(-2, 20, 1000), np.linspace(-9, -1, 1000)], axis=1)
    assert clear_of_zero(draws).tolist() == [True, False, True]
