"""Where all units are alike a bootstrap shows no spread: intervals still hold what so few units cannot exclude."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from snellen.measure import (
    Estimate,
    KindAccuracy,
    accuracy,
    accuracy_by_level,
    accuracy_by_size,
    affinity,
    attack_success,
    background_categories,
    bg_gap,
    compare,
    diversity,
    energy_gain,
    human_accuracy,
    inter_model_auc,
    paired_difference,
    segmentation,
    shape_bias,
    tree_distances,
)

ONES, ZEROS = np.ones(8), np.zeros(8)


def test_eight_of_eight_leave_open_what_clopper_and_pearson_do() -> None:
    exact = stats.binomtest(8, 8).proportion_ci(method="exact")
    gap = paired_difference(ONES, ZEROS)
    assert (gap.low, gap.high) == (pytest.approx(2 * exact.low - 1), 1)
    none = paired_difference(ONES, ONES)
    assert (none.low, none.high) == (pytest.approx(exact.low - 1), pytest.approx(1 - exact.low))
    assert accuracy(ONES).low == pytest.approx(0.676, abs=0.001)


def _people() -> Estimate:
    columns = {"observer": np.repeat(np.arange(8), 8), "sample": np.tile(np.arange(8), 8)}
    same = {name: np.full(64, "a") for name in ("label", "answer", "level")}
    return human_accuracy({**columns, **same}, remove_outliers=False)


def _by_level() -> KindAccuracy:
    """All right on 8 images of the first level, all wrong on 8 of the second."""
    return accuracy_by_level(np.repeat([1, 0], 8), np.full(16, "box"), np.repeat([0, 1], 8))["box"]


WITHIN: dict[str, Callable[[], Estimate]] = {
    "accuracy": lambda: accuracy(ONES),
    "accuracy_by_level, drop": lambda: _by_level().drops[1],
    "accuracy_by_level, step": lambda: _by_level().slopes[1],
    "accuracy_by_level, slope": lambda: _by_level().slope,
    "accuracy_by_size": lambda: accuracy_by_size(np.ones(16), np.arange(16) / 16, (0, 1)),
    "affinity": lambda: affinity(ONES[None], ZEROS[None]),
    "attack_success": lambda: attack_success(np.ones((8, 2), int), np.zeros(8, int), np.array([0, 1])),
    "background_categories": lambda: background_categories(ONES, ZEROS, ONES),
    "bg_gap": lambda: bg_gap(ONES, ZEROS),
    "bg_gap, groups": lambda: bg_gap(np.ones(40), np.zeros(40), np.repeat(np.arange(8), 5)),
    "compare": lambda: compare(ONES, ZEROS),
    "human_accuracy": _people,
    "paired_difference": lambda: paired_difference(ONES, ONES),
    "segmentation": lambda: segmentation(np.tile(np.eye(2, dtype=int), (8, 1, 1))),
    "shape_bias": lambda: shape_bias(ZEROS, ZEROS, ONES),
    "shape_bias, groups": lambda: shape_bias(np.zeros(40), np.zeros(40), np.ones(40), np.repeat(np.arange(8), 5)),
}


@pytest.mark.parametrize("measure", WITHIN)
def test_eight_units_alike_have_an_interval_of_some_width(measure: str) -> None:
    seen = WITHIN[measure]()
    assert seen.low <= seen.value <= seen.high
    assert 0.25 < seen.high - seen.low < 0.9


UNBOUNDED: dict[str, Callable[[], Estimate]] = {
    "diversity": lambda: diversity(np.full((1, 8), 0.3)),
    "energy_gain": lambda: energy_gain((np.full(8, 3.0), np.full(8, 5.0)), (ONES, ONES)),
    "inter_model_auc": lambda: inter_model_auc(np.ones((8, 3)), np.zeros((8, 2, 3))),
    "paired_difference of numbers": lambda: paired_difference(np.full(8, 3.0), ONES),
    "tree_distances": lambda: tree_distances(["cat"] * 8, ["dog"] * 8, {"cat": "animal", "dog": "animal"}),
}


@pytest.mark.parametrize("measure", UNBOUNDED)
def test_without_bounds_units_that_are_alike_tell_no_interval(measure: str) -> None:
    seen = UNBOUNDED[measure]()
    assert math.isfinite(seen.value)
    assert math.isnan(seen.low)
    assert math.isnan(seen.high)


@pytest.mark.parametrize(("count", "p"), [(2, 0.5), (5, 0.0625), (6, 0.03125)])
def test_p_of_differences_alike_is_that_of_a_sign_test(count: int, p: float) -> None:
    seen = compare(np.ones(count), np.zeros(count))
    assert seen.p == pytest.approx(p) == pytest.approx(stats.binomtest(count, count).pvalue)
    assert (seen.low > 0) == (seen.p < 0.05)  # interval and test tell the same
    groups = np.repeat(np.arange(count), 3)
    assert compare(np.ones(3 * count), np.zeros(3 * count), groups).p == pytest.approx(p)


def test_almost_alike_is_no_surer_than_alike() -> None:
    almost = compare([1] * 7 + [0], [0] * 8)
    assert almost.p >= compare(ONES, ZEROS).p


@pytest.mark.parametrize(
    ("count", "first", "second"), [(5, 0.9, 0.1), (8, 0.95, 0.05), (20, 0.97, 0.02), (60, 0.02, 0.0), (100, 0.02, 0.01)]
)
def test_differences_near_an_edge_are_covered(count: int, first: float, second: float) -> None:
    """A bootstrap alone covered 55 to 84% of these: where all are alike, or one sign is unseen, it shows too little."""
    random = np.random.default_rng(count)
    draws = [paired_difference(*(random.random(count) < share for share in (first, second))) for _ in range(300)]
    assert np.mean([gap.low <= first - second <= gap.high for gap in draws]) > 0.93 - 2 * 0.0147


@pytest.mark.parametrize("bias", [0.5, 0.9, 0.97])
def test_a_shape_bias_of_few_decided_answers_is_covered(bias: float) -> None:
    """60 conflicts, of which 30% are decided: a bootstrap covered 82% of a bias of 0.9, and 39% of 0.97."""
    random, held = np.random.default_rng(60), 0
    for _ in range(300):
        pick = random.random(60)
        pred = np.where(pick < 0.3 * bias, 0, np.where(pick < 0.3, 1, 2))
        found = shape_bias(pred, np.zeros(60, int), np.ones(60, int))
        held += found.low <= bias <= found.high
    assert held / 300 > 0.93 - 2 * 0.0147


def test_a_drop_to_itself_is_none_and_a_drop_from_all_right_to_all_wrong_follows_from_both_accuracies() -> None:
    seen = _by_level()
    assert (seen.drops[0].low, seen.drops[0].high) == (0, 0)
    right = accuracy(ONES)
    assert seen.drops[1].low == pytest.approx(1 - math.sqrt(2) * (1 - right.low))
    assert seen.drops[1].high == 1
    assert (seen.slope.low, seen.slope.high) == pytest.approx((-1, -seen.drops[1].low))
