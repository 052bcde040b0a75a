from math import isnan, nan, sqrt

import numpy as np
import pytest
from scipy import sparse
from scipy import stats as theirs

from snellen.measure import Estimate, bootstrap_interval, paired_difference
from snellen.measure.bootstrap import resampled_sums
from snellen.measure.few_units import few_factor, widen


def mean(sums):
    return sums[:, 0] / sums[:, 1]


def with_count(values):
    return np.stack([values, np.ones(len(values))], axis=1)


def test_every_resample_draws_as_many_samples_as_there_are():
    blocks = list(resampled_sums(np.eye(7), repeats=120))
    weights = np.concatenate(blocks)
    assert [len(block) for block in blocks] == [50, 50, 20]
    assert (weights.sum(axis=1) == 7).all()
    # each weight is binomial(7, 1/7): mean 1, variance 6/7
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(6 / 7, rel=0.15)
    assert len(np.unique(weights, axis=0)) > 100


def test_a_sparse_matrix_gives_the_sums_of_the_array():
    columns = (np.random.default_rng(0).random((40, 9)) < 0.2).astype(float)
    dense = np.concatenate(list(resampled_sums(columns, 130, seed=3)))
    thin = np.concatenate(list(resampled_sums(sparse.csc_array(columns), 130, seed=3)))
    np.testing.assert_array_equal(dense, thin)


def test_the_seed_decides_and_more_repeats_begin_with_the_fewer():
    first, again, other, fewer = (
        np.concatenate(list(resampled_sums(np.arange(30.0)[:, None], repeats, seed)))
        for repeats, seed in [(200, 0), (200, 0), (200, 1), (70, 0)]
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[:70], fewer)
    assert (first != other).mean() > 0.9


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(1).gamma(2, size=300)
    expected = theirs.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", random_state=0)
    low, high = bootstrap_interval(with_count(values), mean, repeats=4000)
    width = high - low
    assert low == pytest.approx(expected.confidence_interval.low, abs=0.05 * width)
    assert high == pytest.approx(expected.confidence_interval.high, abs=0.05 * width)


def test_few_units_widen_the_interval_by_students_factor():
    for units, rounded in ((2, 9.17), (5, 1.58), (10, 1.22), (20, 1.10), (100, 1.02)):
        by_scipy = sqrt(units / (units - 1)) * theirs.t.ppf(0.975, units - 1) / theirs.norm.ppf(0.975)
        assert few_factor(units) == pytest.approx(by_scipy, rel=1e-9) == pytest.approx(rounded, abs=0.006)
    # 0.5 with resamples from 0.4 to 0.7, of 5 units: 0.5 − 1.583 · 0.1 and 0.5 + 1.583 · 0.2
    assert widen(0.5, (0.4, 0.7), 5) == pytest.approx((0.3416, 0.8168), abs=1e-4)


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(8).normal(size=12)
    low, high = bootstrap_interval(with_count(values), mean, repeats=20_000)
    exact = theirs.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.06 * (exact.high - exact.low))


def test_an_interval_keeps_within_its_bounds():
    columns = with_count(np.array([0.0, 1, 1]))
    low, high = bootstrap_interval(columns, mean)
    assert low < 0
    assert high > 1
    assert bootstrap_interval(columns, mean, bounds=(0, 1)) == (0, 1)


@pytest.mark.parametrize("groups", [5, 10, 20])
def test_intervals_of_few_groups_hold_what_they_promise(groups):
    """A paired difference of 0.1 in groups of 10 to 40 images that share a part: covered 95 times in 100, not 81 or 89."""
    random = np.random.default_rng(groups)
    covered = 0
    for _ in range(300):
        sizes = random.integers(10, 40, groups)
        member = np.repeat(np.arange(groups), sizes)
        first, second = (random.beta(4 * share, 4 * (1 - share), groups)[member] for share in (0.8, 0.7))
        a, b = (random.random(len(member)) < share for share in (first, second))
        gap = paired_difference(a, b, member)
        covered += gap.low <= 0.1 <= gap.high
    assert covered / 300 > 0.915  # 93% less a standard error of 1.5


def test_groups_of_one_sample_are_samples():
    columns = with_count(np.random.default_rng(2).random(60))
    assert bootstrap_interval(columns, mean, groups=np.arange(60)) == pytest.approx(bootstrap_interval(columns, mean))


def test_the_interval_covers_the_truth_19_times_in_20():
    # 400 experiments of 80 exponential values with mean 1. The binomial sd of the coverage is 1.1 %.
    random = np.random.default_rng(5)
    intervals = [bootstrap_interval(with_count(random.exponential(size=80)), mean) for _ in range(400)]
    assert 0.90 < np.mean([low < 1 < high for low, high in intervals]) < 0.98


def test_clustered_intervals_cover_where_plain_ones_do_not():
    # 40 groups of 10 with a shared part: the plain interval takes 400 values for independent.
    random = np.random.default_rng(6)
    group = np.repeat(np.arange(40), 10)
    plain = clustered = 0
    for _ in range(200):
        columns = with_count(random.normal(size=40)[group] + 0.3 * random.normal(size=400))
        low, high = bootstrap_interval(columns, mean, repeats=300)
        plain += low < 0 < high
        low, high = bootstrap_interval(columns, mean, group, repeats=300)
        clustered += low < 0 < high
    assert plain / 200 < 0.65
    assert clustered / 200 > 0.88


def test_memory_stays_bounded_for_many_samples():
    import tracemalloc

    columns = with_count(np.random.default_rng(7).random(60_000))
    tracemalloc.start()
    low, high = bootstrap_interval(columns, mean, repeats=150)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.49 < low < high < 0.51
    assert peak < 60_000 * 50 * 12  # a block of weights, as bytes and as floats; never all repeats


def test_pairs_that_differ_by_a_constant_leave_open_what_so_few_cannot_show():
    b = np.linspace(0, 0.5, 20)
    found = paired_difference(b + 0.25, b)
    seen = theirs.binomtest(20, 20).proportion_ci(method="exact").low  # of all pairs, so many are surely like these
    ends = 0.25 * seen - (1 - seen), 0.25 * seen + (1 - seen)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, *ends))
    assert found.n == 20


def test_a_paired_difference_by_hand():
    # a is right on 3 of 4, b on 1 of 4; the third pair lacks b, so a counts 2 of 3 and b 1 of 3.
    assert paired_difference([1, 1, 1, 0], [1, 0, 0, 0]).value == 0.5
    found = paired_difference([1, 1, 1, 0], [1, 0, nan, 0])
    assert (found.value, found.n) == (pytest.approx(1 / 3), 3)


def test_the_paired_interval_is_that_of_the_differences():
    # 0/1 answers, 500 pairs: 100 only a right, 50 only b right. The differences have mean 0.1 and
    # variance 150/500 − 0.1² = 0.29, so ± 1.96 · sqrt(0.29 / 500) = ± 0.0472.
    a = np.repeat([1, 0, 1], [100, 50, 350])
    b = np.repeat([0, 1, 1], [100, 50, 350])
    found = paired_difference(a, b)
    half = 1.96 * sqrt(0.29 / 500)
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.1 - half, 0.1 + half), abs=0.006)


def test_runs_are_averaged_on_each_side():
    a = np.array([[1, 1, 0, 0], [1, 0, 1, 0]])  # mean 0.5
    b = np.array([0, 0, 0, 1])  # mean 0.25
    assert paired_difference(a, b).value == 0.25
    assert paired_difference(b, a).value == -0.25


def test_groups_widen_a_paired_difference():
    group = np.repeat(np.arange(20), 30)
    a, b = group % 2, np.zeros(600)
    clustered, plain = paired_difference(a, b, group), paired_difference(a, b)
    assert clustered.value == plain.value == 0.5
    assert clustered.high - clustered.low > 4 * (plain.high - plain.low)


def test_no_pairs_are_nan_and_one_pair_has_no_interval():
    assert str(paired_difference([], [])) == str(Estimate(nan, nan, nan, 0))
    assert paired_difference([1, nan], [nan, 1]).n == 0
    assert paired_difference([1], [0]).value == 1
    assert isnan(paired_difference([1], [0]).low)


def test_unequal_lengths_are_no_pairs():
    with pytest.raises(ValueError, match="expected pairs, got 3 and 2 samples"):
        paired_difference([1, 0, 1], [1, 0])


def test_many_samples_are_drawn_by_kind_with_the_same_law():
    """60,000 scores of three values: the spread of the resampled mean is that of the scores over the root of n."""
    random = np.random.default_rng(3)
    columns = np.stack([random.choice([0.0, 0.5, 1.0], 60_000, p=[0.2, 0.3, 0.5]), np.ones(60_000)], axis=1)
    sums = np.concatenate(list(resampled_sums(columns, repeats=4000)))
    assert (sums[:, 1] == 60_000).all()
    means = sums[:, 0] / sums[:, 1]
    assert means.mean() == pytest.approx(columns[:, 0].mean(), abs=4 * columns[:, 0].std() / np.sqrt(60_000 * 4000))
    assert means.std() == pytest.approx(columns[:, 0].std() / np.sqrt(60_000), rel=0.05)
