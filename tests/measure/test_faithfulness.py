"""Areas between curves: worked out by hand, mirrored, and nan without data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import (
    curve_areas,
    insertion_curves,
    inter_model_auc,
    mean_curve,
    normalised_curves,
)


def test_two_images_and_three_steps_by_hand() -> None:
    """Areas 75 and 50 of the order, 50 and 25 of two random orders on average: differences of 25 and 25."""
    ordered = [[1, 1, 0], [1, 0.5, 0]]
    random = [[[1, 0.5, 0], [1, 0.5, 0]], [[1, 0, 0], [0, 0.5, 0]]]
    measured = inter_model_auc(ordered, random)
    assert curve_areas(ordered).tolist() == [75, 50]
    assert curve_areas(random).tolist() == [[50, 50], [25, 25]]
    assert measured.value == pytest.approx(25)
    assert measured.curve.tolist() == pytest.approx([25, 37.5, 0])  # of (0, 50, 0) and (50, 25, 0)
    assert measured.se == pytest.approx(0)
    spread = np.array([np.std([0, 50], ddof=1), np.std([50, 25], ddof=1), 0]) / math.sqrt(2)
    assert measured.se_steps == pytest.approx(spread.mean())
    assert measured.n == 2


def test_scores_are_shares_of_what_can_be_lost_on_average() -> None:
    curves = [[0.9, 0.1], [0.7, 0.3]]
    assert normalised_curves(curves, [0.9, 0.7], [0.1, 0.3]) == pytest.approx(
        (np.array(curves) - 0.2) / 0.6
    )  # 0.8 and 0.2 on average, whatever a single image has


@pytest.mark.parametrize(("whole", "hidden"), [([], []), ([0.2, 0.4], [0.3, 0.3]), ([0.1], [0.5])])
def test_scores_are_unknown_where_hiding_costs_nothing(whole: list[float], hidden: list[float]) -> None:
    assert np.isnan(normalised_curves(np.ones((len(whole), 3)), whole, hidden)).all()


def test_no_images_give_nan_and_one_gives_no_error() -> None:
    nothing = inter_model_auc(np.empty((0, 5)), np.empty((0, 2, 5)))
    assert nothing.n == 0
    assert math.isnan(nothing.value)
    single = inter_model_auc([[1, 0]], [[[1, 0]]])
    assert single.value == 0
    assert math.isnan(single.se)
    assert mean_curve(np.ones((1, 4))).value.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("random", [np.ones((2, 4)), np.ones((3, 2, 4)), np.ones((2, 2, 5)), np.ones((2, 0, 4))])
def test_curves_of_other_images_or_steps_are_refused(random: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"expected random curves \[2, repeats, 4\]"):
        inter_model_auc(np.ones((2, 4)), random)


@given(arrays(float, (4, 6), elements=st.floats(0, 1)), arrays(float, (4, 3, 6), elements=st.floats(0, 1)))
def test_insertion_is_deletion_from_the_other_end_and_has_its_area(ordered: np.ndarray, random: np.ndarray) -> None:
    deletion = inter_model_auc(ordered, random)
    insertion = inter_model_auc(insertion_curves(ordered), insertion_curves(random))
    assert insertion.value == pytest.approx(deletion.value)
    assert insertion.curve.tolist() == pytest.approx(deletion.curve[::-1].tolist())
    assert -100 <= deletion.value <= 100


@given(arrays(float, (5, 7), elements=st.floats(0, 1)))
def test_an_order_that_is_the_random_one_has_no_area(ordered: np.ndarray) -> None:
    assert inter_model_auc(ordered, ordered[:, None]).value == pytest.approx(0)


def test_the_interval_holds_the_area_and_groups_widen_it() -> None:
    random = np.random.default_rng(0)
    ordered = np.clip(np.linspace(1, 0, 11) + random.normal(0, 0.3, (60, 1)), 0, 1)
    chance = np.zeros((60, 2, 11))
    alone = inter_model_auc(ordered, chance)
    assert alone.low < alone.value < alone.high
    assert (alone.high - alone.low) / 2 == pytest.approx(1.96 * alone.se, rel=0.15)
    clips = np.argsort(np.argsort(ordered[:, 5])) // 10  # alike ones in one group
    grouped = inter_model_auc(ordered, chance, clips)
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)
