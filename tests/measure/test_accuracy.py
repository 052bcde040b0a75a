from math import isnan, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from scipy.stats import binomtest

from snellen.measure import Estimate, accuracy, recipe_accuracy


def test_nine_right_of_ten():
    # Wilson by hand: z² = 3.8415, centre (0.9 + 0.19207) / 1.38415 = 0.78899,
    # half 1.95996 / 1.38415 · sqrt(0.9 · 0.1 / 10 + 3.8415 / 400) = 0.19314
    found = accuracy([1] * 9 + [0])
    assert (found.value, found.n) == (0.9, 10)
    assert found.low == pytest.approx(0.59585, abs=2e-5)
    assert found.high == pytest.approx(0.98213, abs=2e-5)


@given(st.integers(1, 3000), st.data())
def test_one_run_has_the_interval_of_scipy(n, data):
    right = data.draw(st.integers(0, n))
    theirs = binomtest(right, n).proportion_ci(method="wilson")
    ours = accuracy(np.arange(n) < right)
    assert (ours.value, ours.n) == (right / n, n)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


@pytest.mark.parametrize("nothing", [[], [[], []], [nan, nan], [[nan], [nan]]])
def test_no_data_is_nan_and_not_zero(nothing):
    found = accuracy(nothing)
    assert found.n == 0
    assert isnan(found.value)
    assert isnan(found.low)
    assert isnan(found.high)


def test_excluded_samples_do_not_count():
    assert accuracy([1, nan, 0, 1, nan]) == accuracy([1, 0, 1])
    assert accuracy([[0.5, nan, 1], [0.2, nan, 0]]) == accuracy([[0.5, 1], [0.2, 0]])
    # run one answers both samples, run two only the second: 3 answers, 2 right, 2 samples
    half_excluded = accuracy([[1, 0], [nan, 1]])
    assert (half_excluded.value, half_excluded.n) == (pytest.approx(2 / 3), 2)


def test_runs_that_agree_tell_no_more_than_one_of_them():
    one = np.arange(50) < 40
    assert accuracy(np.stack([one, one, one])) == accuracy(one)
    assert accuracy(np.ones((3, 50))).low < 0.95


def test_samples_answered_by_unequal_numbers_of_runs_count_by_their_answers():
    # 2 right answers of 6. Without a right one 1/5, without a wrong one 2/4: the variance is 3/4 · (2 · (2/15)² + 2 · (1/6)²).
    found = accuracy([[1, 0, 1, 0], [nan, 0, nan, 0]])
    half = stats.t.ppf(0.975, 3) * sqrt(0.75 * 2 * ((2 / 15) ** 2 + (1 / 6) ** 2)) / (2 / 9)
    assert (found.value, found.n) == (pytest.approx(1 / 3), 4)
    assert (found.low, found.high) == pytest.approx((expit(log(0.5) - half), expit(log(0.5) + half)))


def test_groups_by_hand():
    # Three videos of 4 frames, 3, 2 and 4 right. Leaving one out gives 6/8, 7/8 and 5/8, so the variance of 0.75 is
    # 2/3 · (0 + 1/64 + 1/64) = 1/48; on the scale of log odds 4.3027 · 0.14434 / 0.1875 = 3.3122 each way.
    found = accuracy([1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1], np.repeat(["a", "b", "c"], 4))
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((expit(log(3) - 3.3122), expit(log(3) + 3.3122)), abs=1e-4)


def test_one_bad_group_among_good_ones_leaves_few_degrees_of_freedom():
    # Ten videos of 10 frames, nine with 9 right and one with none. Leaving one out moves the mean by ∓ 0.01 or 0.09: the
    # kurtosis is (9 · 1 + 6561) / 10 / 9² = 8.11, so 2 · 9 / 7.11 − 1 = 1.53 degrees and not 9.
    right = (np.tile(np.arange(10) < 9, 10) & (np.arange(100) >= 10)).astype(float)
    found = accuracy(right, np.repeat(np.arange(10), 10))
    assert found.value == pytest.approx(0.81)
    error = sqrt(0.9 * (9 * 0.01**2 + 0.09**2)) / (0.81 * 0.19)
    half = stats.t.ppf(0.975, 18 / (6570 / 810 - 1) - 1) * error
    centre = log(0.81 / 0.19)
    assert (found.low, found.high) == pytest.approx((expit(centre - half), expit(centre + half)))


def test_groups_that_are_all_right_are_as_many_trials():
    found = accuracy(np.ones(60), np.repeat(np.arange(6), 10))
    t = stats.t.ppf(0.975, 5)
    assert (found.low, found.high) == (pytest.approx(6 / (6 + t**2)), 1)


@pytest.mark.parametrize(("groups", "share"), [(5, 0.7), (10, 0.9), (20, 0.95)])
def test_accuracy_of_few_groups_is_covered(groups, share):
    random = np.random.default_rng(groups + 100)
    covered = 0
    for _ in range(400):
        member = np.repeat(np.arange(groups), random.integers(10, 40, groups))
        right = random.random(len(member)) < random.beta(6 * share, 6 * (1 - share), groups)[member]
        found = accuracy(right, member)
        covered += found.low <= share <= found.high
    assert covered / 400 > 0.917  # 93% less a standard error of 1.3


def test_the_interval_of_the_recipe_by_hand():
    # Runs with 4 and 2 of 4 right, on images of mean 1, 1, 0.5, 0.5. Of runs: variance of (1, 0.5) / 2 = 1/16. Of images:
    # 1/12 / 4 = 1/48. Of both: the runs differ from their mean by ± (0, 0, 0.5, 0.5) / …, each 1/12 · … / 4, twice, by 2.
    runs = np.array([[1.0, 1, 1, 1], [1, 1, 0, 0]])
    found = recipe_accuracy(runs)
    of_both = 2 * (np.var([0, 0, 0.5, 0.5], ddof=1) / 4) / 2
    squares = stats.t.ppf(0.975, 1) ** 2 / 16 + stats.t.ppf(0.975, 3) ** 2 * (1 / 48 - of_both)
    half = sqrt(squares) / (0.75 * 0.25)
    assert (found.value, found.n) == (0.75, 4)
    assert (found.low, found.high) == pytest.approx((expit(log(3) - half), expit(log(3) + half)), abs=1e-9)


def test_one_run_tells_nothing_about_its_recipe():
    assert isnan(recipe_accuracy([1, 0, 1, 1]).low)
    assert recipe_accuracy([1, 0, 1, 1]).value == 0.75
    assert isnan(recipe_accuracy(np.empty((3, 0))).value)


def test_the_recipe_is_covered_where_these_runs_are_not():
    """Five runs whose skill varies: the recipe's accuracy is covered 95 times in 100, and 75 by the interval of these runs."""
    random = np.random.default_rng(4)
    hard = random.normal(size=100_000)
    truth = float(expit(1.2 + 2 * hard + 0.15 * random.normal(size=100_000)).mean())
    these = recipe = 0
    for _ in range(250):
        chance = expit(1.2 + 0.15 * random.normal(size=(5, 1)) + 2 * random.normal(size=1500))
        right = (random.random(chance.shape) < chance).astype(float)
        one, other = accuracy(right), recipe_accuracy(right)
        these += one.low <= truth <= one.high
        recipe += other.low <= truth <= other.high
    assert these / 250 < 0.88
    assert recipe / 250 > 0.925


def test_runs_of_one_skill_leave_the_recipe_nearly_as_sure_as_these_runs():
    random = np.random.default_rng(5)
    right = (random.random((5, 2000)) < 0.8).astype(float)
    one, other = accuracy(right), recipe_accuracy(right)
    assert one.high - one.low < other.high - other.low < 2 * (one.high - one.low)


def test_runs_stay_together_when_images_are_resampled():
    # Four runs right on the same 100 of 200 images, but for one answer: nearly as uncertain as one run.
    one = np.arange(200) < 100
    runs = np.stack([one] * 4)
    runs[0, 0] = False
    together, alone = accuracy(runs), accuracy(one)
    assert together.n == 200
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_the_interval_of_scores_is_that_of_their_mean():
    # 400 scores, sd 0.2: mean ± 1.96 · 0.2 / 20 = ± 0.0196
    scores = np.tile([0.4, 0.8], 200)
    found = accuracy(scores)
    assert found.value == pytest.approx(0.6)
    assert found.low == pytest.approx(0.6 - 0.0196, abs=0.003)
    assert found.high == pytest.approx(0.6 + 0.0196, abs=0.003)


def test_samples_alike_in_each_video_are_worth_one_sample_per_video():
    # 20 videos of 50 frames, all frames of a video right or all wrong: as 20 samples, not 1,000.
    video = np.repeat(np.arange(20), 50)
    right = video % 2
    clustered, single, few = accuracy(right, video), accuracy(right), accuracy(np.arange(20) % 2)
    width = clustered.high - clustered.low
    assert clustered.value == single.value == 0.5
    assert clustered.n == 1000
    assert width > 5 * (single.high - single.low)
    assert width == pytest.approx(few.high - few.low, rel=0.15)


def test_group_labels_may_be_words_in_any_order():
    words, numbers = ["dog", "ant", "dog", "cat"], [1, 7, 1, 0]
    assert accuracy([1, 0, 0, 1], words).n == accuracy([1, 0, 0, 1], numbers).n == 4
    assert 0 <= accuracy([1, 0, 0, 1], words).low < 0.5


def test_a_single_group_has_no_interval():
    assert str(accuracy([1, 0, 1, 1], ["a"] * 4)) == str(Estimate(0.75, nan, nan, 4))


def test_a_lone_fractional_score_has_no_interval():
    assert isnan(accuracy([0.5]).low)


@pytest.mark.parametrize(
    ("correct", "groups", "message"),
    [
        ([0, 1.3], None, r"expected scores in \[0, 1\], got 1.3"),
        ([-1, 1], None, r"expected scores in \[0, 1\], got -1"),
        (np.zeros((2, 3, 4)), None, r"expected \[samples\] or \[runs, samples\], got an array of shape \(2, 3, 4\)"),
        ([0, 1, 1], ["a", "b"], r"expected one group per sample, got \(2,\) for 3 samples"),
    ],
)
def test_a_wrong_call_is_told_what_was_wanted(correct, groups, message):
    with pytest.raises(ValueError, match=message):
        accuracy(correct, groups)
