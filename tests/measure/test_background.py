"""BG-Gap, categories, adversarial backgrounds, scale and progress: hand-worked, published and planted truths."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from snellen.measure import (
    CATEGORIES,
    accuracy_by_size,
    attack_success,
    background_categories,
    bg_gap,
    scale_leakage,
    trend,
)

# Table 3 of paper 004, row by row: full image, foreground, background → label.
TABLE = [
    (1, 0, 1, "BG Required"),
    (0, 1, 0, "BG Fools"),
    (1, 0, 0, "BG+FG Required"),
    (0, 1, 1, "BG+FG Fools"),
    (1, 1, 0, "BG Irrelevant"),
    (1, 1, 1, "BG Irrelevant"),
    (0, 0, 0, "BG Irrelevant"),
    (0, 0, 1, "BG Irrelevant"),
]


def test_the_gap_is_the_difference_of_accuracies_and_its_interval_is_paired() -> None:
    """Right on 8 of 10 and on 5 of the very same 10: 0.3; ten copies of these narrow the interval, copies in groups do not."""
    same, rand = np.array([1] * 8 + [0] * 2), np.array([1] * 5 + [0] * 5)
    one = bg_gap(same, rand)
    assert (one.value, one.n) == (pytest.approx(0.3), 10)
    assert one.low <= 0.3 <= one.high
    many, groups = bg_gap(np.tile(same, 10), np.tile(rand, 10)), np.tile(np.arange(10), 10)
    clustered = bg_gap(np.tile(same, 10), np.tile(rand, 10), groups)
    assert many.high - many.low < 0.5 * (one.high - one.low)
    assert (clustered.low, clustered.high) == (pytest.approx(one.low), pytest.approx(one.high))


def test_a_gap_of_answers_that_are_the_same_is_zero_and_as_sure_as_forty_images() -> None:
    answers = np.random.default_rng(0).integers(0, 2, (2, 40))
    same = bg_gap(answers, answers)
    assert (same.value, same.high) == (0, -same.low)
    assert 0.08 < same.high < 0.1  # 0 of 40 may be 8.8%
    assert math.isnan(bg_gap([], []).value)
    with pytest.raises(ValueError, match="expected pairs, got 2 and 3 samples"):
        bg_gap([1, 0], [1, 0, 1])


def test_every_row_of_table_3() -> None:
    full, foreground, background, names = zip(*TABLE)
    found = background_categories(full, foreground, background)
    assert found.labels.tolist() == list(names)
    assert found.counts == Counter(names)
    assert found.value == 2 / 8  # those that need the background
    assert found.n == 8


def test_categories_do_not_count_what_was_not_answered() -> None:
    found = background_categories([1, np.nan, 1], [0, 0, 1], [1, 1, np.nan])
    assert found.labels.tolist() == ["BG Required", "", ""]
    assert (sum(found.counts.values()), found.n, found.value) == (1, 1, 1)
    assert math.isnan(background_categories([], [], []).value)


def test_categories_need_three_answers_of_right_or_wrong() -> None:
    with pytest.raises(ValueError, match="expected three answers per image"):
        background_categories([1, 0], [1, 0], [1])
    with pytest.raises(ValueError, match=r"right \(1\) or wrong \(0\)"):
        background_categories([0.5], [1], [1])


@given(st.lists(st.tuples(*[st.booleans()] * 3), max_size=40), st.integers(1, 3))
def test_categories_are_exhaustive_and_exclusive(rows: list[tuple[bool, bool, bool]], runs: int) -> None:
    """Every image of every run is in exactly one of the five, and the five explain both accuracies."""
    full, foreground, background = (
        np.tile(np.array(part, float), (runs, 1)) for part in (zip(*rows) if rows else ((),) * 3)
    )
    found = background_categories(full, foreground, background)
    assert set(found.counts) == set(CATEGORIES)
    assert np.isin(found.labels, CATEGORIES).all()
    assert sum(found.counts.values()) == full.size == found.labels.size
    needed, fooled = (
        sum(found.counts[name] for name in CATEGORIES if name.endswith(word)) for word in ("Required", "Fools")
    )
    assert needed - fooled == full.sum() - foreground.sum()
    if rows:
        assert found.value == pytest.approx(needed / full.size)


PRED = [[0, 1, 0], [2, 0, 0], [1, 1, 1], [-1, 2, 2]]
FOREGROUND, BACKGROUND = [0, 0, 1, 2], [0, 1, 1]


def test_attacks_by_hand() -> None:
    """The second foreground fails on a background of its own class, the fourth by an answer outside all classes: wrong by
    `any`, but no background has turned them into its class."""
    found = attack_success(PRED, FOREGROUND, BACKGROUND)
    assert (found.vulnerable, found.value, found.n) == (3 / 4, 3 / 4, 4)
    assert found.fooled.tolist() == [1, 1, 0, 1]
    targeted = attack_success(PRED, FOREGROUND, BACKGROUND, rule="background")
    assert targeted.vulnerable == 1 / 4
    assert targeted.fooled.tolist() == [1, 0, 0, 0]
    for one in (found, targeted):
        assert one.per_background.tolist() == [0, pytest.approx(1 / 3), 0]
        assert one.tried.tolist() == [2, 3, 3]
        assert one.class_totals == {0: 0, 1: pytest.approx(1 / 3)}


def test_a_search_that_stops_at_the_first_success_tells_the_same_share() -> None:
    pred = np.random.default_rng(3).integers(-1, 3, (30, 12))
    pred[5:15] = np.arange(5, 15)[:, None] % 3  # ten that nothing fools
    foreground, background = np.arange(30) % 3, np.arange(12) % 3
    wrong = pred != foreground[:, None]
    asked = np.cumsum(wrong, axis=1) - wrong == 0
    stopped = attack_success(np.where(asked, pred, -9), foreground, background, evaluated=asked)
    assert stopped.vulnerable == attack_success(pred, foreground, background).vulnerable == 20 / 30
    assert asked.sum() < asked.size


def test_what_was_not_tried_is_not_known() -> None:
    evaluated = np.zeros((4, 3), bool)
    evaluated[2] = True
    found = attack_success(PRED, FOREGROUND, BACKGROUND, evaluated=evaluated)
    assert (found.vulnerable, found.n) == (0, 1)
    assert np.isnan(found.fooled).tolist() == [True, True, False, True]
    assert np.isnan(found.per_background).tolist() == [False, True, True]  # the third is of their own class
    assert math.isnan(found.class_totals[1])


@given(st.data())
def test_the_totals_lie_between_the_best_background_and_the_sum_of_all(data: st.DataObject) -> None:
    answers = st.lists(st.lists(st.integers(-1, 3), min_size=5, max_size=5), min_size=2, max_size=12)
    pred = np.array(data.draw(answers))
    foreground, background = np.arange(len(pred)) % 4, np.array([0, 0, 1, 2, 3])
    found = attack_success(pred, foreground, background, rule="background")
    for name, total in found.class_totals.items():
        rates = found.per_background[background == name]
        assert np.nanmax(rates) - 1e-9 <= total <= np.nansum(rates) + 1e-9
    assert found.vulnerable <= attack_success(pred, foreground, background).vulnerable


def test_wrong_calls_of_attack_success_say_what_was_expected() -> None:
    with pytest.raises(ValueError, match=r"expected answers \[4 foregrounds, 2 backgrounds\], got \(4, 3\)"):
        attack_success(PRED, FOREGROUND, [0, 1])
    with pytest.raises(ValueError, match="expected rule any or background, got 'some'"):
        attack_success(PRED, FOREGROUND, BACKGROUND, rule="some")  # type: ignore[arg-type]


def test_accuracy_by_size_by_hand() -> None:
    """Each image is in one bin; of the three smaller objects two are right, of the two larger ones one."""
    found = accuracy_by_size([1, 0, 1, 1, 0], [0.0, 0.25, 0.3, 0.5, 1.0], [0, 0.25, 0.5, 1])
    assert [(one.start, one.stop, one.estimate.value, one.estimate.n) for one in found.bins] == [
        (0, 0.25, 1, 1), (0.25, 0.5, 0.5, 2), (0.5, 1, 0.5, 2),
    ]  # fmt: skip
    assert (found.value, found.n) == (pytest.approx(2 / 3 - 1 / 2), 5)
    assert math.isnan(found.low)  # of five images some resamples have no large one
    many = accuracy_by_size(np.tile([1, 0, 1, 1, 0], 8), np.tile([0.0, 0.25, 0.3, 0.5, 1.0], 8), [0, 1])
    assert many.low < many.value == found.value < many.high


def test_sizes_that_are_not_known_or_all_alike_say_nothing() -> None:
    nothing = accuracy_by_size([1, 0], [np.nan, np.nan], [0, 1])
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.bins[0].estimate.value)
    alike = accuracy_by_size([1, 0], [0.2, 0.2], [0, 1])
    assert math.isnan(alike.value)
    assert alike.bins[0].estimate.value == 0.5


def test_a_class_that_its_size_gives_away_is_guessed_and_one_that_it_does_not_is_not() -> None:
    random = np.random.default_rng(1)
    labels = np.repeat(np.arange(4), 100)
    telling = scale_leakage(0.1 + 0.2 * labels + 0.1 * random.random(400), labels)
    assert telling.guessed > 0.9  # some bins lie across the border between two classes
    assert (telling.chance, telling.n) == (0.25, 400)
    assert telling.value == pytest.approx(telling.guessed - 0.25)
    silent = scale_leakage(random.random(400), labels)
    assert silent.low <= 0 <= silent.high
    assert scale_leakage(np.full(400, 0.3), labels).value == pytest.approx(0, abs=0.02)
    uneven = scale_leakage(random.random(400), np.repeat([0, 1, 2], [280, 60, 60]))
    assert uneven.chance == 0.7  # naming the first always is the best that can be done without the size
    assert uneven.low <= 0 <= uneven.high


def test_frames_of_one_clip_do_not_tell_their_own_class() -> None:
    """Fifty clips whose size says nothing, of 20 frames alike: a frame in both parts would give its clip away."""
    random = np.random.default_rng(2)
    clips = np.repeat(np.arange(50), 20)
    area, labels = random.random(50)[clips], random.integers(0, 5, 50)[clips]
    assert scale_leakage(area, labels).low > 0.1
    assert scale_leakage(area, labels, clips).low < 0


def test_a_trend_is_that_of_linregress() -> None:
    random = np.random.default_rng(4)
    x = random.random(9)
    y = 0.3 + 0.7 * x + 0.05 * random.standard_normal(9)
    found, oracle = trend(x, y), stats.linregress(x, y)
    half = stats.t.ppf(0.975, 7) * oracle.stderr
    expected = (oracle.slope, oracle.slope - half, oracle.slope + half, oracle.intercept)
    assert (found.value, found.low, found.high, found.intercept) == pytest.approx(expected)
    assert found.n == 9


def test_two_models_have_a_slope_without_interval_and_one_has_none() -> None:
    two = trend([0.5, 0.7], [0.2, 0.6])
    assert (two.value, two.intercept) == (pytest.approx(2), pytest.approx(-0.8))
    assert math.isnan(two.low)
    assert math.isnan(trend([0.5, 0.5], [0.2, 0.6]).value)
    assert math.isnan(trend([0.5, np.nan], [0.2, 0.6]).value)
