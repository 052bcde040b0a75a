"""The noise floor: counted by hand, and with planted noise its interval holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from snellen.measure import accuracy_noise, answer_changes


def test_pairs_of_repeats_that_differ_are_counted() -> None:
    assert answer_changes([[1, 2, 3, 4], [1, 2, 3, 0]]).value == 0.25
    three = answer_changes([[0, 0, 0], [0, 0, 1], [0, 1, 2]])  # 0, 2 and 3 of 3 pairs
    assert three.value == pytest.approx((0 + 2 / 3 + 1) / 3)
    assert three.n == 3


def test_nothing_is_known_of_one_answer_or_of_none() -> None:
    for answers in ([[1, 2, 3]], np.zeros((0, 3)), np.zeros((2, 0))):
        assert math.isnan(answer_changes(answers).value)
        assert math.isnan(accuracy_noise(answers))
    with pytest.raises(ValueError, match=r"expected answers \[repeats, samples\], got \[3\]"):
        answer_changes([1, 2, 3])


def test_a_model_that_answers_the_same_has_no_noise_and_an_interval_above_it() -> None:
    same = answer_changes(np.tile(np.arange(50), (3, 1)))
    assert (same.value, same.low) == (0, 0)
    assert 0 < same.high < 0.08
    assert accuracy_noise(np.ones((3, 50))) == 0


def test_the_reach_of_an_accuracy_is_that_of_independent_coins() -> None:
    half = [[0, 1] * 50, [1, 0] * 50]  # each image differs: v = 1
    assert accuracy_noise(half) == pytest.approx(1.959964 * math.sqrt(1 / 200))
    assert accuracy_noise([[math.nan, 0], [1, 1]]) == pytest.approx(1.959964 * math.sqrt(1 / 2))


def planted(draws: np.random.Generator, repeats: int, right: np.ndarray) -> np.ndarray:
    """0/1 [repeats, images] of a service that is right about each image with a probability of its own."""
    return (draws.random((repeats, len(right))) < right).astype(np.int64)


@pytest.mark.parametrize("repeats", [2, 3, 5])
@pytest.mark.parametrize("wrong", [0.05, 0.2])
def test_the_interval_holds_planted_noise(repeats: int, wrong: float) -> None:
    """Wrong with probability q by its own random numbers: 2 q (1 − q) of pairs differ."""
    draws = np.random.default_rng(repeats)
    truth, rounds, covered = 2 * wrong * (1 - wrong), 600, 0
    for _ in range(rounds):
        found = answer_changes(planted(draws, repeats, np.full(100, 1 - wrong)))
        covered += found.low <= truth <= found.high
    assert covered / rounds >= 0.93


@pytest.mark.parametrize("repeats", [2, 4])
def test_accuracies_of_the_same_images_differ_by_the_stated_reach_in_95_of_100_cases(repeats: int) -> None:
    draws = np.random.default_rng(7)
    right = draws.beta(2, 1, 200)  # some images are all but sure, others a coin
    within = 0
    for _ in range(1000):
        first, second = planted(draws, repeats, right), planted(draws, repeats, right)
        within += abs(first.mean() - second.mean()) <= accuracy_noise(first)
    assert 0.92 <= within / 1000 <= 0.98
