"""Sampled steps: areas without bias, errors that are what they are said to be, and fewer steps for smoother curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.search.step_sampling import (
    FEWEST,
    Budget,
    Sample,
    roughness,
    sampling_error,
    states_at,
    systematic,
    trapezoid,
)


def sample(curve: np.ndarray, count: int, start: float) -> Sample:
    at = systematic(len(curve) - 2, count, start)
    return Sample(float(curve[0]), float(curve[-1]), at, curve[at])


def test_a_hundred_points_of_1024_tiles_are_those_of_the_published_code() -> None:
    assert states_at(100, 1024).tolist() == np.round(np.linspace(0, 1, 100) * 1024).astype(int).tolist()


@given(st.integers(3, 300), st.integers(1, 3000))
def test_states_go_from_none_to_all_and_never_back(points: int, tiles: int) -> None:
    states = states_at(points, tiles)
    assert (states[0], states[-1], len(states)) == (0, tiles, points)
    assert (np.diff(states) >= 0).all()


@given(st.integers(1, 98), st.integers(2, 6))
def test_every_point_is_looked_at_as_often_as_any_other(count: int, repeats: int) -> None:
    """Over evenly spread starts, up to the one start in which a border falls."""
    starts = (np.arange(98 * repeats) + 0.5) / (98 * repeats)
    hits = np.bincount(np.concatenate([systematic(98, count, start) for start in starts]), minlength=99)[1:]
    assert hits.sum() == count * len(starts)
    assert hits.max() - hits.min() <= 2


@given(arrays(float, 30, elements=st.floats(0, 1)), st.sampled_from([1, 2, 4, 7, 14, 28]))
def test_the_area_has_no_bias_whatever_the_curve(curve: np.ndarray, count: int) -> None:
    """28 inner points: the mean over all starts is the trapezoid of the whole curve."""
    starts = (np.arange(28 // count) + 0.5) / (28 // count)
    areas = [sample(curve, count, start).area(30) for start in starts]
    assert np.mean(areas) == pytest.approx(trapezoid(curve))
    assert trapezoid(curve) == pytest.approx(np.trapezoid(curve, dx=1 / 29))


@given(arrays(float, 30, elements=st.floats(0, 1)), st.integers(0, 40), st.floats(0, 0.999))
def test_the_drawn_curve_has_the_estimated_area_and_the_known_ends(curve: np.ndarray, count: int, start: float) -> None:
    known = sample(curve, count, start)
    line = known.curve(30)
    assert trapezoid(line) == pytest.approx(known.area(30))
    assert (line[0], line[-1]) == (curve[0], curve[-1])
    if count >= 28:
        assert known.is_whole(30)
        assert line == pytest.approx(curve)


def test_a_straight_line_has_no_roughness_and_a_step_has_that_of_a_step() -> None:
    """A step at an unknown place: the error is uniform over one spacing, a root of 12 of it, times the number of points."""
    assert roughness(np.linspace(1, 0, 100)) == pytest.approx(0, abs=1e-12)
    steps = [roughness((np.arange(100) < at).astype(float)) for at in range(20, 80)]
    assert math.sqrt(np.mean(np.square(steps))) == pytest.approx(1 / math.sqrt(12), rel=0.08)


def test_roughness_is_the_error_over_all_starts_of_7_14_28_and_49_points() -> None:
    """Against the definition with a thousand starts for each size."""
    curve = np.random.default_rng(3).random(100)
    starts = (np.arange(1000) + 0.5) / 1000
    squares = [
        np.mean([(size * (sample(curve, size, start).area(100) - trapezoid(curve))) ** 2 for start in starts])
        for size in (7, 14, 28, 49)
    ]
    assert roughness(curve) == pytest.approx(math.sqrt(np.mean(squares)), rel=0.01)


def walks(count: int, seed: int = 0) -> np.ndarray:
    """Rough curves [count, 100] from 1 to 0."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.normal(0, 0.1, (count, 100)), 1)
    line = np.linspace(1, 0, 100)
    return np.clip(line + walk - walk[:, :1] - (walk[:, -1:] - walk[:, :1]) * (1 - line), 0, 1)


@pytest.mark.parametrize("count", [8, 20, 40])
def test_the_stated_error_holds_in_nine_of_ten_cases(count: int) -> None:
    """The mean of 50 sampled curves, 200 times."""
    curves = walks(50)
    true = np.mean([trapezoid(one) for one in curves])
    random = np.random.default_rng(1)
    stated = sampling_error(np.full((50, 1), count), [roughness(one) for one in curves], 98)
    errors = [np.mean([sample(one, count, random.random()).area(100) for one in curves]) - true for _ in range(200)]
    assert 0.82 < np.mean(np.abs(errors) < stated) < 0.97
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(200)


def test_what_is_wholly_known_does_not_err_and_without_a_whole_curve_nothing_is_stated() -> None:
    assert sampling_error(np.full((5, 2), 98), [], 98) == 0
    assert math.isnan(sampling_error(np.array([[98], [20]]), [], 98))


def test_a_budget_asks_for_what_its_error_needs() -> None:
    """1.645 · 40 / (m · √(400 · 1)) ≤ 0.2 needs 17 points; four curves per image, half of them."""
    assert Budget(400, 0.2, 1, 40.0).count(98) == 17
    assert Budget(400, 0.2, 4, 40.0).count(98) == 9
    assert Budget(3, 0.2, 1, 40.0).count(98) == 98  # few images: everything
    assert Budget(10**9, 0.2, 1, 40.0).count(98) == FEWEST == 4
    smooth, rough = (Budget(400, 0.2, 1, 40.0).count(98, [one] * 12) for one in (5.0, 80.0))
    assert smooth < 17 < rough


def test_a_budget_makes_up_for_what_earlier_images_erred() -> None:
    """Half of the images with 17 points leave the others 17; with 13 they leave less error for the others, with 98 more."""
    budget = Budget(400, 0.2, 1, 40.0)
    counts = {earlier: budget.count(98, (), [earlier] * 200) for earlier in (13, 17, 98)}
    assert counts[98] < counts[17] < counts[13]
    assert counts[17] in (16, 17)
    total = 200 * 40**2 / 13**2 + 200 * 40**2 / counts[13] ** 2
    assert 1.645 * math.sqrt(total) / 400 <= 0.2


def test_a_budget_leaves_the_rest_at_least_a_tenth_of_the_error() -> None:
    """Half of the images with 4 points erred more than all may: √(1600 · 200 · 10) / (80 / 1.645) is 36.8."""
    assert Budget(400, 0.2, 1, 40.0).count(98, (), [4] * 200) == 37
