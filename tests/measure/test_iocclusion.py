"""iOcclusion: the published numbers, hand-worked gaps, and what it says where there is no gap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import iocclusion
from snellen.measure.iocclusion_difference import Covered, mean_iocclusion

ACCURACY = st.floats(0, 1)


@pytest.mark.parametrize(
    ("occluded", "gap", "published"),
    [(1.06, 5.47, 0.194), (5.49, 4.60, 1.193), (7.32, 4.58, 1.598), (2.68, 4.70, 0.570)],
    ids=["basic", "cutmix", "fmix", "mixup"],
)
def test_the_gaps_of_table_16_give_its_ratios(occluded: float, gap: float, published: float) -> None:
    """Paper 000, table 16 at 30 %, in per cent points: numerator and denominator for CIFAR-10."""
    measured = iocclusion(100.0, 100.0 - gap, 60.0 + occluded, 60.0)
    assert measured.value == pytest.approx(published, abs=0.0006)
    assert (measured.numerator, measured.denominator) == (pytest.approx(occluded), pytest.approx(gap))
    assert math.isnan(measured.std)
    assert math.isnan(measured.low)


def test_runs_are_divided_one_by_one_and_then_averaged() -> None:
    """Gaps 0.1 and 0.2, occluded 0.05 and −0.3: ratios 0.5 and −1.5; the ratio of the means would be 1.17."""
    measured = iocclusion([1.0, 1.0], [0.9, 0.8], [0.6, 0.4], [0.55, 0.7])
    assert measured.per_run.tolist() == pytest.approx([0.5, 1.5])
    assert measured.value == pytest.approx(1.0)
    assert measured.signed == pytest.approx(-0.5)
    assert measured.std == pytest.approx(math.sqrt(0.5))
    assert (measured.numerator, measured.denominator) == (pytest.approx(0.175), pytest.approx(0.15))


def test_a_run_without_a_gap_gives_nan_and_says_so() -> None:
    measured = iocclusion([0.9, 0.9], [0.9, 0.8], [0.5, 0.5], [0.4, 0.4])
    assert math.isnan(measured.value)
    assert measured.gapless == 1
    assert measured.per_run[1] == pytest.approx(1.0)
    assert measured.numerator == pytest.approx(0.1)


def test_no_samples_give_nan() -> None:
    empty = np.zeros((2, 0))
    assert math.isnan(iocclusion(empty, empty, empty, empty).value)


@given(gap=st.floats(0.01, 1), low=ACCURACY, occluded=ACCURACY, scale=st.floats(0.1, 100))
def test_neither_the_unit_nor_which_split_comes_first_matters(
    gap: float, low: float, occluded: float, scale: float
) -> None:
    four = np.array([low + gap, low, occluded, 0.25])
    value = iocclusion(*four).value
    assert iocclusion(*(scale * four)).value == pytest.approx(value)
    assert iocclusion(*four[[1, 0, 3, 2]]).value == pytest.approx(value)
    assert abs(iocclusion(*four).signed) == pytest.approx(value)


def scores(random: np.random.Generator, share: float, count: int, runs: int = 2) -> np.ndarray:
    return (random.random((runs, count)) < share).astype(float)


def test_the_interval_of_scores_covers_a_planted_ratio() -> None:
    """Train 0.95, test 0.75, occluded 0.7 and 0.6: the truth is 0.1 / 0.2 = 0.5."""
    held, gaps, wide = 0, 0, []
    for number in range(40):
        random = np.random.default_rng(number)
        shown = [scores(random, share, 1500) for share in (0.95, 0.75, 0.7, 0.6)]
        measured = iocclusion(*shown, repeats=200)
        held += measured.low <= 0.5 <= measured.high
        wide.append(measured.high - measured.low)
        assert measured.n == 1500
        gaps += measured.gap_low <= 0.2 <= measured.gap_high
    assert held >= 35
    assert gaps >= 35
    assert 0.1 < np.mean(wide) < 0.4
    assert iocclusion(*shown, seed=1).low != measured.low


def test_a_gap_that_may_not_be_there_shows_in_its_own_interval_and_an_endless_upper_end() -> None:
    """With 30 images a resample without any gap is common."""
    random = np.random.default_rng(1)
    clean = scores(random, 0.9, 30, 1)
    other = np.roll(clean, 3, axis=1).copy()
    other[0, :2] = 1 - other[0, :2]
    measured = iocclusion(clean, other, scores(random, 0.6, 30, 1), scores(random, 0.4, 30, 1))
    assert measured.gap_low <= 0 <= measured.gap_high
    assert measured.high == math.inf


def test_where_occlusion_closes_the_gap_the_interval_begins_at_0() -> None:
    """All covered images are answered by chance: the true ratio is 0, the measured one cannot be."""
    random = np.random.default_rng(4)
    measured = iocclusion(*(scores(random, share, 1000) for share in (0.95, 0.75, 0.1, 0.1)))
    assert measured.value > 0
    assert measured.low == 0
    assert measured.high < 0.25


def exactly(shares: list[float], seed: int) -> np.ndarray:
    """Just these shares of 400 images right, one run each, in an order of its own."""
    random = np.random.default_rng(seed)
    return np.stack([random.permutation(np.arange(400) < 400 * share) for share in shares]).astype(float)


def both_lower_ends(train: list[float], test: list[float]) -> list[float]:
    """Those of `iocclusion` and of `mean_iocclusion` with one share, for these covered accuracies; clean ones 0.95 and 0.75."""
    clean = exactly([0.95] * len(train), 1), exactly([0.75] * len(train), 2)
    covered = exactly(train, 3), exactly(test, 4)
    return [iocclusion(*clean, *covered).low, mean_iocclusion(Covered(*clean, covered[:1], covered[1:])).low]


def test_runs_without_a_clear_sign_count_as_none_for_the_lower_end() -> None:
    """One run keeps a gap of 0.3, three one of 0.03, which may be none: the four have a quarter of what the one has."""
    for four, one in zip(both_lower_ends([0.7] + [0.5] * 3, [0.4] + [0.47] * 3), both_lower_ends([0.7], [0.4])):
        assert four == pytest.approx(one / 4, rel=0.1)


def test_runs_that_differ_in_sign_have_no_clear_one_together() -> None:
    """Gaps of 0.2 and −0.2 are each clear, but occlusion did not keep a gap: the recipe may have none."""
    assert all(low > 0.5 for low in both_lower_ends([0.6, 0.6], [0.4, 0.4]))
    assert both_lower_ends([0.6, 0.4], [0.4, 0.6]) == [0, 0]


def test_train_and_test_images_are_drawn_apart() -> None:
    """The same 1,000 answers but two in both: drawn together the gap would hardly vary, apart it does by ±4 points."""
    train = scores(np.random.default_rng(0), 0.7, 1000, 1)
    test = train.copy()
    test[0, np.flatnonzero(train[0])[:2]] = 0
    measured = iocclusion(train, test, train, test)
    assert 0.06 < measured.gap_high - measured.gap_low < 0.10


def test_groups_are_drawn_whole_and_widen_the_interval() -> None:
    """Ten copies of each of 60 images are no more than 60 images."""
    random = np.random.default_rng(2)
    four = [scores(random, share, 60) for share in (0.97, 0.7, 0.7, 0.5)]
    copied = [np.repeat(one, 10, axis=1) for one in four]
    group = np.repeat(np.arange(60), 10)
    alone, grouped, blind = iocclusion(*four), iocclusion(*copied, (group, group)), iocclusion(*copied)
    assert grouped.value == pytest.approx(alone.value)
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high))
    assert blind.high - blind.low < 0.6 * (alone.high - alone.low)


def test_wrong_calls_are_told() -> None:
    with pytest.raises(ValueError, match="same number of runs everywhere, got 2 of train, 1 of test"):
        iocclusion([1, 1], 1, [1, 1], [1, 1])
    with pytest.raises(ValueError, match=r"expected occluded scores of the same images, got \(1, 5\) and \(1, 4\)"):
        iocclusion(np.ones((1, 5)), np.zeros((1, 3)), np.ones((1, 4)), np.zeros((1, 3)))
