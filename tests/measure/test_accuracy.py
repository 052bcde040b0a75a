from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from snellen.measure import Estimate, accuracy


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


def test_samples_answered_by_unequal_numbers_of_runs_are_resampled():
    # 2 right answers of 6. All four draws are of a wrong sample 1 time in 16, of a right one as often: 0 to 1.
    found = accuracy([[1, 0, 1, 0], [nan, 0, nan, 0]])
    assert (found.value, found.low, found.high, found.n) == (pytest.approx(1 / 3), 0, 1, 4)


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
