"""Affinity, diversity and direction on examples one can work out by hand, and on planted directions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import affinity, direction, diversity, paired_difference
from snellen.measure.error_direction import agreement


def test_affinity_is_what_the_augmentation_costs() -> None:
    measured = affinity([0.90, 0.94], [0.70, 0.80])
    assert measured.value == pytest.approx(-0.17)
    assert measured.std == pytest.approx(math.sqrt(2) * 0.03)
    assert measured.per_run.tolist() == pytest.approx([-0.20, -0.14])
    assert math.isnan(affinity(0.9, 0.7).std)
    assert math.isnan(affinity(0.9, 0.7).low)


def test_affinity_of_scores_has_the_paired_interval() -> None:
    random = np.random.default_rng(0)
    clean = (random.random((3, 400)) < 0.9).astype(float)
    augmented = clean * (random.random((3, 400)) < 0.8)
    measured, paired = affinity(clean, augmented), paired_difference(augmented, clean)
    assert (measured.value, measured.low, measured.high) == pytest.approx((paired.value, paired.low, paired.high))
    assert measured.n == 400


def test_diversity_is_the_mean_loss() -> None:
    measured = diversity([0.41, 0.43])
    assert measured.value == pytest.approx(0.42)
    assert measured.std == pytest.approx(math.sqrt(2) * 0.01)
    by_sample = diversity([[0.1, 0.3, 0.5], [0.3, 0.5, 0.7]])
    assert by_sample.value == pytest.approx(0.4)
    assert by_sample.low < 0.4 < by_sample.high
    assert by_sample.per_run.tolist() == pytest.approx([0.3, 0.5])
    assert math.isnan(diversity([]).value)


def test_a_hand_worked_direction() -> None:
    """Four images of class 0, one clean error to class 1; afterwards two errors to 2 and one to 1: shift (0, −2/3, 2/3)."""
    measured = direction([[1, 0, 0, 0]], [[1, 2, 2, 0]], [0, 0, 0, 0], 3)
    assert measured.shift.tolist() == pytest.approx([0, -2 / 3, 2 / 3])
    assert math.isnan(measured.value)
    assert math.isnan(measured.p)


def test_agreement_is_the_mean_pairwise_cosine() -> None:
    shifts = np.random.default_rng(3).normal(size=(4, 6))
    pairs = [np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for i, a in enumerate(shifts) for b in shifts[:i]]
    assert agreement(shifts) == pytest.approx(np.mean(pairs))
    assert agreement(np.array([[1.0, 0], [-2.0, 0]])) == pytest.approx(-1)
    assert agreement(np.array([[0.0, 0], [1.0, 0]])) == 0


def answers(random: np.random.Generator, labels: np.ndarray, towards: np.ndarray, classes: int = 10) -> np.ndarray:
    """Half the images wrong, the wrong answers drawn by the weights `towards` [classes]."""
    wrong = random.choice(classes, len(labels), p=towards)
    return np.where(random.random(len(labels)) < 0.5, labels, wrong)


def test_runs_that_move_to_the_same_class_agree_and_unrelated_ones_do_not() -> None:
    random = np.random.default_rng(0)
    labels = np.arange(4000) % 10
    even = np.full(10, 0.1)
    before = np.stack([answers(random, labels, even) for _ in range(4)])
    tilted = np.where(np.arange(10) == 3, 0.55, 0.05)
    same = direction(before, np.stack([answers(random, labels, tilted) for _ in range(4)]), labels, 10)
    assert same.value > 0.95
    assert same.p < 0.01
    assert same.value > same.null95
    assert int(same.shift.argmax()) == 3
    assert same.low <= same.value <= same.high
    apart = [np.where(np.arange(10) == target, 0.55, 0.05) for target in (1, 4, 7, 9)]
    other = direction(before, np.stack([answers(random, labels, one) for one in apart]), labels, 10)
    assert other.value < 0
    assert other.p > 0.5


def test_chance_alone_exceeds_the_null_as_often_as_it_should() -> None:
    """No distortion at all: five in a hundred p-values fall below 0.05."""
    labels = np.arange(1000) % 10
    found = []
    for number in range(150):
        random = np.random.default_rng(number)
        before, after = (
            np.stack([answers(random, labels, np.full(10, 0.1)) for _ in range(3)]) for _ in ("before", "after")
        )
        found.append(direction(before, after, labels, 10, after_labels=labels, repeats=99).p)
    assert 0.01 <= np.mean(np.array(found) < 0.0501) <= 0.11


@given(st.integers(2, 4), st.integers(2, 6), st.integers(0, 1000))
def test_agreement_stays_within_its_bounds_and_shifts_sum_to_nothing(runs: int, classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=40)
    before, after = random.integers(classes, size=(2, runs, 40))
    measured = direction(before, after, labels, classes, repeats=0)
    assert -1 - 1e-9 <= measured.value <= 1 + 1e-9
    assert measured.per_run.sum(axis=1) == pytest.approx(0, abs=1e-9)


def test_the_interval_of_an_agreement_is_about_endless_images() -> None:
    """Three runs are pulled to the same class, by a tenth of their errors: their true shifts are alike, an agreement of 1. 500
    images show about a third of it."""
    random, covered, shown = np.random.default_rng(6), [], []
    for seed in range(40):
        labels = random.integers(0, 10, 500)
        before, after = (
            np.where(
                random.random((3, 500)) < error,
                np.where(random.random((3, 500)) < pull, 0, random.integers(0, 10, (3, 500))),
                labels,
            )
            for error, pull in ((0.1, 0.0), (0.4, 0.1))
        )
        found = direction(before, after, labels, 10, repeats=200, seed=seed)
        covered.append(found.high >= 1)
        shown.append(found.value)
        assert found.low <= found.value <= found.high
    assert np.mean(shown) < 0.5
    assert np.mean(covered) >= 0.93
