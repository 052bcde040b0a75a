"""Flips counted by hand, and critical differences beside the printed tables and example of Demšar (2006)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from snellen.measure import critical_difference, flips

nan = math.nan


def test_flips_by_hand() -> None:
    own = flips([1, 1, 0, 0, 1, nan], [1, 0, 1, 0, nan, 1])
    assert own.only_first.tolist() == [1]
    assert own.only_second.tolist() == [2]
    assert (own.both, own.neither, own.n) == (1, 1, 4)


def test_of_several_runs_most_must_be_right() -> None:
    own = flips([[1, 1, 0], [1, 0, 0], [0, 0, 1]], [0, 1, 1])
    assert own.only_first.tolist() == [0]
    assert own.only_second.tolist() == [1, 2]
    with pytest.raises(ValueError, match="expected pairs, got 2 and 3 samples"):
        flips([1, 0], [1, 0, 1])


@pytest.mark.parametrize(
    ("models", "q"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_critical_values_are_those_of_the_table(models: int, q: float) -> None:
    """Table 5a of Demšar (2006), two-tailed Nemenyi at 0.05."""
    judges = 20
    accuracy = np.random.default_rng(0).random((models, judges))
    expected = q * math.sqrt(models * (models + 1) / (6 * judges))
    assert critical_difference(accuracy).critical == pytest.approx(expected, abs=1e-3 * expected)


def test_the_printed_example() -> None:
    """Four classifiers on 14 datasets: CD = 1.25, mean ranks 3.143, 2.000, 2.893, 1.964 (table 6)."""
    table = [
        (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975), (0.957, 0.978, 0.946, 0.970),
    ]  # fmt: skip
    own = critical_difference(np.array(table).T)
    assert own.critical == pytest.approx(1.25, abs=0.005)
    assert own.test.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert own.test.q == pytest.approx(friedmanchisquare(*np.array(table).T).statistic)
    without_ties = 12 * 14 / (4 * 5) * float(((own.test.mean_ranks - 2.5) ** 2).sum())
    assert without_ties == pytest.approx(9.28, abs=0.005)  # the example's Q


def test_bars_join_models_that_are_not_apart_and_none_lies_in_another() -> None:
    first = np.array([0.9, 0.8, 0.3, 0.2])[:, None] + np.zeros((1, 30))
    own = critical_difference(first)
    assert own.critical == pytest.approx(2.569 * math.sqrt(20 / 180), abs=1e-3)  # 0.86: neighbours are one rank apart
    assert own.alike == ()
    few = critical_difference(first[:, :10])  # 1.48: each is joined to its neighbour
    assert few.alike == ((0, 1), (1, 2), (2, 3))
    assert few.p[0, 1] > 0.05 > few.p[0, 2]
    alike = critical_difference(np.random.default_rng(3).random((4, 5)))
    assert len(alike.alike) == 1
    assert sorted(alike.alike[0]) == [0, 1, 2, 3]


def test_one_judge_or_one_model_tells_nothing() -> None:
    for accuracy in (np.ones((3, 1)), np.ones((1, 5)), np.full((3, 4), nan)):
        own = critical_difference(accuracy)
        assert math.isnan(own.critical)
        assert own.alike == ()
