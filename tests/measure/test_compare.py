"""Paired comparisons and Holm's correction."""

import numpy as np
import pytest
from scipy import stats

from snellen.measure import compare, holm
from snellen.measure.edges import one_sided_interval


def test_a_hand_worked_comparison():
    # Of 100 images a is right on 60, b on 50; 30 are right for a alone, 20 for b alone.
    a = np.array([1] * 30 + [0] * 20 + [1] * 30 + [0] * 20)
    b = np.array([0] * 30 + [1] * 20 + [1] * 30 + [0] * 20)
    seen = compare(a, b)
    # The differences are 30 ones, 20 minus ones and 50 zeros: mean 0.1, variance (50 − 100 · 0.01) / 99 = 0.49495.
    error = np.sqrt(49 / 99 / 100)
    assert seen.value == pytest.approx(0.1)
    assert seen.p == pytest.approx(2 * stats.t.sf(0.1 / error, 99)) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert seen.detectable == pytest.approx((stats.t.ppf(0.975, 99) + stats.t.ppf(0.8, 99)) * error, rel=1e-9)
    # Among six comparisons the smallest p-value is held against 0.05 / 6.
    six = stats.t.ppf(1 - 0.05 / 12, 99) + stats.t.ppf(0.8, 99)
    assert seen.detectable_among(6) == pytest.approx(six * error, rel=1e-9)
    assert seen.detectable_among(1) == seen.detectable
    assert seen.low < 0.1 < seen.high


def test_p_is_close_to_the_paired_t_test_and_to_mcnemar_for_many_samples():
    random = np.random.default_rng(0)
    a = (random.random(3000) < 0.7).astype(float)
    b = np.where(random.random(3000) < 0.8, a, random.random(3000) < 0.6).astype(float)
    seen = compare(a, b)
    assert seen.p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=0.05)
    alone = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    assert seen.p == pytest.approx(stats.binomtest(alone[0], sum(alone)).pvalue, rel=0.25)


def test_equal_models_are_called_different_in_one_case_of_twenty():
    random = np.random.default_rng(1)
    p = [compare(*(random.random((2, 400)) < 0.6).astype(float)).p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_the_detectable_difference_is_found_in_four_cases_of_five():
    random = np.random.default_rng(2)
    detectable = compare(*(random.random((2, 500)) < 0.5).astype(float)).detectable
    found = 0
    for _ in range(300):
        a, b = random.random(500) < 0.5 + detectable, random.random(500) < 0.5
        found += compare(a.astype(float), b.astype(float)).p < 0.05
    assert found / 300 == pytest.approx(0.8, abs=0.07)


@pytest.mark.parametrize("tests", [6, 66])
def test_among_many_comparisons_the_stated_difference_is_found_in_four_cases_of_five(tests):
    """One true difference among many tests that are not, after Holm's correction; without it 56% and 29% would be."""
    random = np.random.default_rng(tests)
    reach = compare(*(random.random((2, 1000)) < 0.5).astype(float)).detectable_among(tests)
    seen = 0
    for _ in range(300):
        true = compare((random.random(1000) < 0.5 + reach).astype(float), (random.random(1000) < 0.5).astype(float)).p
        seen += holm([true, *random.random(tests - 1)])[0] < 0.05
    assert seen / 300 == pytest.approx(0.8, abs=0.07)


def test_equal_models_on_five_groups_are_called_different_in_one_case_of_twenty():
    random = np.random.default_rng(5)
    member, alarms = np.repeat(np.arange(5), 20), 0
    for _ in range(400):
        a, b = (random.random(100) < random.beta(6, 3, 5)[member] for _ in range(2))
        alarms += compare(a.astype(float), b.astype(float), member).p < 0.05
    assert alarms / 400 < 0.075


def test_groups_that_move_together_count_as_one():
    random = np.random.default_rng(3)
    a, b = (np.repeat((random.random(50) < 0.6).astype(float), 20) for _ in range(2))
    alone, together = compare(a, b), compare(a, b, np.repeat(np.arange(50), 20))
    assert together.detectable == pytest.approx(alone.detectable * np.sqrt(20), rel=0.05)


def test_five_groups_of_one_size_are_compared_as_their_means_by_students_t():
    """A fair mistake is to divide by five instead of four: the error of few groups then comes out too small."""
    a, b = np.random.default_rng(4).random((2, 5, 8))
    alone, together = stats.ttest_rel(a.mean(1), b.mean(1)), compare(a.ravel(), b.ravel(), np.repeat(np.arange(5), 8))
    assert together.p == pytest.approx(alone.pvalue)
    assert together.error == pytest.approx(stats.sem(a.mean(1) - b.mean(1)))
    assert together.units == 5


def test_runs_are_averaged_and_nan_does_not_count():
    a = np.array([[1, 1, 0, np.nan], [1, 0, 0, np.nan]])
    seen = compare(a, np.array([0, 0, 0, 1.0]))
    assert (seen.value, seen.n) == (pytest.approx(0.5), 3)


def test_no_data_and_no_difference():
    assert np.isnan(compare(np.empty(0), np.empty(0)).p)
    same = compare(np.ones(9), np.ones(9))
    assert (same.value, same.p) == (0, 1)
    assert 0.3 < same.detectable < 0.8  # nine images do not show a small one


def test_holm_on_the_textbook_example():
    # 0.01 · 4 = 0.04; 0.02 · 3 = 0.06; 0.03 · 2 = 0.06; 0.04 · 1 = 0.04, raised to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.02]).tolist() == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.9, np.nan, 0.6])[0] == 1
    assert np.isnan(holm([0.9, np.nan])[1])


@pytest.mark.parametrize(("above", "below", "n"), [(5, 0, 5), (3, 0, 20), (0, 7, 9), (0, 0, 12)])
def test_a_sign_that_was_not_seen_has_the_interval_of_zou_and_donner(above, below, n):
    """MOVER from Wilson's intervals by statsmodels' formula: p1 - p2 -+ sqrt of the squared arms; mirrored if the signs are."""
    differences = np.array([1.0] * above + [-1.0] * below + [0.0] * (n - above - below))

    def wilson(k):
        z, p = stats.norm.ppf(0.975), k / n
        middle, arm = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        return (middle - arm) / (1 + z**2 / n), (middle + arm) / (1 + z**2 / n)

    (l1, u1), (l2, u2), p1, p2 = wilson(above), wilson(below), above / n, below / n
    low = p1 - p2 - np.sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2)
    high = p1 - p2 + np.sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)
    assert one_sided_interval(differences) == pytest.approx((max(low, -1), min(high, 1)), abs=1e-9)
    assert one_sided_interval(-differences) == pytest.approx((-min(high, 1), -max(low, -1)), abs=1e-9)


def test_both_signs_or_other_differences_have_no_such_interval():
    for differences in ([1.0, -1.0, 0.0], [0.5, 0.0, 1.0]):
        assert one_sided_interval(np.array(differences)) == (np.inf, -np.inf)
