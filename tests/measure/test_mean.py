"""The mean over datasets: the published interval of two shares, one dataset alone, and how often the truth lies inside."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import Estimate, accuracy, mean_estimate

ESTIMATES = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 40)).map(lambda pair: accuracy(np.arange(pair[0]) < pair[1])),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_two_datasets_have_the_published_interval(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10, for p1 − p2: the mean of p1 and 1 − p2 is (1 + p1 − p2) / 2."""
    (a, m), (b, n) = first, second
    mean = mean_estimate([accuracy(np.arange(m) < a), accuracy(np.arange(n) < n - b)])
    assert mean.value == pytest.approx((1 + a / m - b / n) / 2)
    assert (2 * mean.low - 1, 2 * mean.high - 1) == pytest.approx((low, high), abs=6e-5)
    assert mean.n == m + n


@given(ESTIMATES)
def test_it_lies_among_the_estimates_and_its_interval_inside_0_and_1(estimates: list[Estimate]) -> None:
    mean = mean_estimate(estimates)
    values = [one.value for one in estimates]
    assert min(values) - 1e-12 <= mean.value <= max(values) + 1e-12
    assert -1e-12 <= mean.low <= mean.value <= mean.high <= 1 + 1e-12
    widest = max(one.high - one.low for one in estimates)
    assert mean.high - mean.low <= widest + 1e-12  # more datasets make nothing less certain


def test_one_dataset_is_its_own_mean() -> None:
    one = accuracy([1, 1, 0, 1])
    mean = mean_estimate([one])
    assert (mean.value, mean.low, mean.high, mean.n) == pytest.approx((one.value, one.low, one.high, one.n))


def test_each_dataset_weighs_the_same() -> None:
    assert mean_estimate([accuracy([1] * 1000), accuracy([0])]).value == 0.5


def test_no_data_gives_nan() -> None:
    empty = accuracy([])
    for mean in (mean_estimate([]), mean_estimate([accuracy([1, 0]), empty])):
        assert isnan(mean.value)
        assert mean.n == 0
    narrow = mean_estimate([accuracy([1, 0]), Estimate(0.5, float("nan"), float("nan"), 1)])
    assert (narrow.value, narrow.n) == (0.5, 3)
    assert isnan(narrow.low)
    assert isnan(narrow.high)


def test_the_truth_lies_in_the_interval_as_often_as_stated() -> None:
    random, shares, sizes = np.random.default_rng(1), (0.9, 0.6, 0.35), (200, 50, 120)
    inside = 0
    for _ in range(1000):
        mean = mean_estimate([accuracy(random.random(n) < share) for share, n in zip(shares, sizes)])
        inside += mean.low <= np.mean(shares) <= mean.high
    assert 0.93 <= inside / 1000 <= 0.975
