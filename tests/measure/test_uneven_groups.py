"""Groups of very uneven size: one video with half of the images, or sizes that halve from group to group."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from snellen.measure import accuracy, compare, paired_difference
from snellen.measure.few_units import degrees_of, effective_number, few_factor

HALF = np.array([180, *[20] * 9])
FALLING = np.array([200, 120, 72, 43, 25, 15, 9, 5, 3, 2])


def _answers(random: np.random.Generator, sizes: np.ndarray, share: float) -> np.ndarray:
    """Right or wrong; images of a group correlate by 1/6."""
    return (random.random(sizes.sum()) < np.repeat(random.beta(5 * share, 5 * (1 - share), len(sizes)), sizes)).astype(
        float
    )


@pytest.mark.parametrize("sizes", [HALF, FALLING])
def test_equal_models_are_called_different_in_at_most_7_percent_of_cases(sizes):
    random, member = np.random.default_rng(1), np.repeat(np.arange(len(sizes)), sizes)
    alarms = [compare(*(_answers(random, sizes, 0.7) for _ in range(2)), member).p < 0.05 for _ in range(500)]
    assert np.mean(alarms) <= 0.07


@pytest.mark.parametrize("sizes", [HALF, FALLING])
def test_intervals_hold_the_truth_in_at_least_93_percent(sizes):
    random, member = np.random.default_rng(2), np.repeat(np.arange(len(sizes)), sizes)
    hits = []
    for _ in range(400):
        first, second = (_answers(random, sizes, share) for share in (0.8, 0.7))
        difference, own = paired_difference(first, second, member), accuracy(first, member)
        hits.append((difference.low <= 0.1 <= difference.high, own.low <= 0.8 <= own.high))
    assert min(np.mean(hits, axis=0)) >= 0.93


def test_groups_of_equal_size_have_students_degrees_and_uneven_ones_fewer():
    assert degrees_of(np.full(10, 7)) == degrees_of(10) == 9
    assert few_factor(np.full(10, 7)) == few_factor(10)
    assert degrees_of(HALF) < 5
    assert degrees_of(FALLING) < 5
    # Hardly uneven is hardly other: the reach does not jump.
    assert degrees_of(np.array([20] * 9 + [21])) == pytest.approx(9, abs=0.3)
    assert few_factor(np.array([20] * 9 + [21])) == pytest.approx(few_factor(10), rel=0.01)


def test_the_reach_is_that_of_an_independent_simulation_of_groups_of_these_sizes():
    """The quantile at which 5% of means of equal groups' values lie outside, in jackknife errors found by leaving groups out."""
    random, part = np.random.default_rng(9), FALLING / FALLING.sum()
    reached = []
    for values in random.normal(size=(4000, len(part))):
        left_out = [np.average(np.delete(values, group), weights=np.delete(part, group)) for group in range(len(part))]
        mean = values @ part
        reached.append(abs(mean) / np.sqrt(np.square(left_out - mean).sum() * (len(part) - 1) / len(part)))
    assert stats.t.ppf(0.975, degrees_of(FALLING)) >= 0.95 * np.quantile(reached, 0.95)
    assert stats.t.ppf(0.975, degrees_of(FALLING)) <= 1.25 * np.quantile(reached, 0.95)


def test_one_large_group_beside_many_counts_as_few():
    sizes = np.array([1000, *[10] * 100])
    assert effective_number(sizes) == pytest.approx(2000**2 / (1000**2 + 100 * 100))
    assert degrees_of(sizes) < 30
    many = np.random.default_rng(0).integers(10, 40, 5000)
    assert degrees_of(many) > 1000


def test_the_error_of_a_comparison_is_the_jackknife():
    sizes = np.array([4, 2, 2])
    first, second = np.array([1, 1, 1, 0, 1, 0, 0, 1.0]), np.zeros(8)
    member = np.repeat(np.arange(3), sizes)
    without = np.array([first[member != group].mean() for group in range(3)])
    expected = np.sqrt(2 / 3 * np.square(without - first.mean()).sum())
    assert compare(first, second, member).error == pytest.approx(expected)
