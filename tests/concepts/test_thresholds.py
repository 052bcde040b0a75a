"""Thresholds: within the stated error of NumPy's quantile, exact at zero, and the same whatever the order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snellen.concepts.thresholds import BINS, ERROR, LOWEST, Histogram


def quantile_of(values: np.ndarray, share: float = 0.99, step: int = 3, expected: int | None = None) -> np.ndarray:
    """The histogram's, of values [n, units, places], counted `step` images at a time."""
    total = values.shape[0] * values.shape[2]
    histogram = Histogram(values.shape[1], share, expected or total)
    for start in range(0, len(values), step):
        histogram.add(torch.from_numpy(np.ascontiguousarray(values[start : start + step], np.float32)))
    return histogram.quantile().numpy()


def check(got: np.ndarray, values: np.ndarray, share: float) -> None:
    """It lies between the two values of the rank, up to the stated error."""
    flat, small = values.astype(np.float32).swapaxes(0, 1).reshape(values.shape[1], -1), 2.0**LOWEST
    low, high = (np.quantile(flat, share, axis=1, method=way) for way in ("lower", "higher"))
    assert (got >= low - ERROR * abs(low) - small).all(), (got, low)
    assert (got <= high + ERROR * abs(high) + small).all(), (got, high)


LAWS = {
    "normal": lambda random, shape: random.normal(0, 1, shape),
    "after a ReLU": lambda random, shape: random.normal(-1, 1, shape).clip(0),
    "negative": lambda random, shape: -random.exponential(3, shape),
    "tiny": lambda random, shape: random.normal(0, 1e-4, shape),
    "huge": lambda random, shape: random.normal(0, 1e4, shape),
    "rarely above zero": lambda random, shape: random.exponential(1, shape) * (random.uniform(size=shape) < 0.004),
    "dead": lambda random, shape: np.zeros(shape),
    "constant": lambda random, shape: np.full(shape, 1.7),
    "heavy tail": lambda random, shape: random.standard_cauchy(shape).clip(-6e4, 6e4),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.5, 0.99, 0.995])
def test_it_is_the_quantile_up_to_the_stated_error(law: str, share: float) -> None:
    values = LAWS[law](np.random.default_rng(3), (60, 4, 50))
    check(quantile_of(values, share), values, share)


@pytest.mark.parametrize("order", ["sorted", "reversed", "shuffled"])
def test_the_order_of_the_images_changes_nothing(order: str) -> None:
    random = np.random.default_rng(0)
    values = random.normal(0, 1, (200, 3, 20)) * random.exponential(1, (200, 1, 1))
    rows = np.argsort(values.max((1, 2)))
    rows = {"sorted": rows, "reversed": rows[::-1], "shuffled": random.permutation(200)}[order]
    assert quantile_of(values[rows]).tolist() == quantile_of(values).tolist()


def test_fewer_values_than_expected_change_nothing() -> None:
    values = np.random.default_rng(1).normal(0, 1, (100, 3, 20))
    assert quantile_of(values, expected=2500).tolist() == quantile_of(values).tolist()


def test_what_cannot_matter_is_passed_over_and_memory_does_not_grow() -> None:
    random = np.random.default_rng(2)
    histogram = Histogram(4, 0.99, 4000 * 25)
    for _ in range(400):
        histogram.add(torch.from_numpy(random.normal(0, 1, (10, 4, 25)).astype(np.float32)))
    assert histogram.counts.shape == (4, BINS)
    assert int(histogram.counts.sum()) < 4 * 4000 * 25 * 0.15


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
    st.integers(1, 7),
)
@example([0.0] * 5 + [-1.0] * 3 + [0.0] * 7, 0.6, 1)
@example([0.0] * 20 + [-1.0] * 9 + [0.0] * 30, 0.5, 3)
def test_any_values_in_any_portions(numbers: list[float], share: float, step: int) -> None:
    values = np.array(numbers, np.float32).reshape(-1, 1, 1)
    check(quantile_of(values, share, step), values, share)
