"""Agreement of two reviewers: scikit-learn's kappa, Cohen's example, planted agreement, what cannot be told."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from snellen.measure import reviewer_agreement

DECISIONS = ("accept", "mend", "reject")


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 10**6))
def test_the_value_is_that_of_scikit_learn(images: int, kinds: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(kinds))
    first, second = (random.choice(kinds, images, p=weights) for _ in range(2))
    agreement = reviewer_agreement(first, second)
    if len({*first, *second}) == 1:
        assert isnan(agreement.value)
    else:
        assert agreement.value == pytest.approx(cohen_kappa_score(first, second), nan_ok=True)
        assert agreement.low <= agreement.value <= agreement.high


def test_a_table_worked_by_hand() -> None:
    """20 both accept, 5 only the first, 10 only the second, 15 neither: p_o = 0.7, p_e = 0.5 · 0.6 + 0.5 · 0.4 = 0.5."""
    first = ["accept"] * 25 + ["reject"] * 25
    second = ["accept"] * 20 + ["reject"] * 5 + ["accept"] * 10 + ["reject"] * 15
    agreement = reviewer_agreement(first, second)
    assert (agreement.observed, agreement.expected) == pytest.approx((0.7, 0.5))
    assert agreement.value == pytest.approx(0.4)
    assert agreement.n == 50
    assert 0 < agreement.low < 0.4 < agreement.high < 0.7


def test_what_cannot_be_told_is_nan() -> None:
    nobody = reviewer_agreement([], [])
    assert (nobody.n, isnan(nobody.value)) == (0, True)
    alike = reviewer_agreement(["accept"] * 9, ["accept"] * 9)
    assert (alike.observed, alike.expected) == (1, 1)
    assert isnan(alike.value)
    assert isnan(alike.low)
    with pytest.raises(ValueError, match="expected two decisions per image"):
        reviewer_agreement(["accept"], ["accept", "reject"])


def test_full_agreement_is_one_and_few_images_leave_room_below() -> None:
    few, many = (reviewer_agreement(["accept", "reject"] * half, ["accept", "reject"] * half) for half in (5, 500))
    assert few.value == many.value == many.high == 1
    assert few.low < many.low < 1


@pytest.mark.parametrize(("share", "images", "clips"), [(0.1, 150, 1), (0.3, 60, 1), (0.2, 240, 4)])
def test_the_interval_holds_the_truth(share: float, images: int, clips: int) -> None:
    """Both see the true state with errors of 10%; images of one clip share everything. Binomial sd of 200: 1.5%."""
    random = np.random.default_rng(7)
    same = 0.9**2 + 0.1**2
    rejects = share * 0.9 + (1 - share) * 0.1
    by_chance = rejects**2 + (1 - rejects) ** 2
    truth = (same - by_chance) / (1 - by_chance)
    inside = 0
    for _ in range(200):
        state = random.random(images // clips) < share
        seen = [np.repeat(state ^ (random.random(len(state)) < 0.1), clips) for _ in range(2)]
        groups = None if clips == 1 else np.repeat(np.arange(len(state)), clips)
        agreement = reviewer_agreement(*seen, groups)
        inside += agreement.low <= truth <= agreement.high
    assert inside / 200 >= 0.92


def test_numbers_and_texts_are_the_same() -> None:
    random = np.random.default_rng(1)
    first, second = random.integers(3, size=(2, 50))
    named = [np.array(DECISIONS)[numbers] for numbers in (first, second)]
    assert reviewer_agreement(first, second) == reviewer_agreement(*named)
    assert reviewer_agreement(first, second, np.arange(50)).value == reviewer_agreement(first, second).value
