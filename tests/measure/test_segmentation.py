"""Pixel accuracy and IoU: worked by hand, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, jaccard_score

from snellen.measure import segmentation


def test_a_picture_of_six_pixels_worked_by_hand() -> None:
    # truth    0 0 0 1 1 2
    # answers  0 0 1 1 2 2
    measured = segmentation([[2, 1, 0], [0, 1, 1], [0, 0, 1]])
    assert measured.tp.tolist() == [2, 1, 1]
    assert measured.fp.tolist() == [0, 1, 1]
    assert measured.fn.tolist() == [1, 1, 0]
    assert measured.iou.tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 2])
    assert measured.value == measured.miou == pytest.approx(0.5)
    assert measured.pixel_accuracy.value == pytest.approx(4 / 6)
    assert math.isnan(measured.low)  # one sum tells nothing about how images vary


def test_answers_outside_the_classes_are_wrong_for_the_truth_and_for_no_class() -> None:
    measured = segmentation([[3, 0, 1], [0, 2, 0]])
    assert (measured.fn.tolist(), measured.fp.tolist()) == ([1, 0], [0, 0])
    assert measured.iou.tolist() == [0.75, 1]
    assert measured.pixel_accuracy.value == pytest.approx(5 / 6)


def test_a_class_without_a_pixel_counts_in_no_mean() -> None:
    measured = segmentation([[4, 0, 0], [1, 3, 0], [0, 0, 0]])
    assert math.isnan(measured.iou[2])
    assert measured.miou == pytest.approx((4 / 5 + 3 / 4) / 2)


@given(st.integers(0, 2**30), st.integers(2, 6))
def test_equals_scikit_learn_on_pixels_of_several_images(seed: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    truth, answers = random.integers(0, classes, (2, 4, 30))
    counts = [confusion_matrix(a, b, labels=range(classes)) for a, b in zip(truth, answers)]
    measured = segmentation(counts)
    present = np.union1d(truth, answers)
    expected = jaccard_score(truth.ravel(), answers.ravel(), labels=present, average=None, zero_division=0)
    assert measured.iou[present] == pytest.approx(expected)
    assert measured.miou == pytest.approx(expected.mean())
    assert measured.pixel_accuracy.value == pytest.approx(accuracy_score(truth.ravel(), answers.ravel()))
    assert segmentation(np.sum(counts, 0)).miou == pytest.approx(measured.miou)
    assert measured.n == 4
    assert measured.low <= measured.high


def test_the_interval_is_over_images_and_holds_the_value() -> None:
    random = np.random.default_rng(0)
    counts = np.stack([random.multinomial(100, [0.5, 0.1, 0.1, 0.3]).reshape(2, 2) for _ in range(60)])
    measured = segmentation(counts)
    assert measured.low < measured.value < measured.high
    assert measured.pixel_accuracy.low < measured.pixel_accuracy.value < measured.pixel_accuracy.high
    wider = segmentation(counts, groups=np.arange(60) // 20)
    assert wider.value == measured.value
    alike = segmentation([counts[0]] * 10)
    assert alike.value == pytest.approx(segmentation(counts[0]).value)
    assert alike.low < alike.value - 0.1  # ten images that are alike do not make it certain


def test_no_pixels_give_nan_and_odd_shapes_are_refused() -> None:
    measured = segmentation(np.zeros((0, 3, 3)))
    assert all(map(math.isnan, (measured.value, measured.low, measured.pixel_accuracy.value)))
    assert (measured.n, np.isnan(measured.iou).all()) == (0, True)
    assert segmentation(np.zeros((2, 2))).n == 0
    for wrong in (np.zeros(3), np.zeros((3, 2)), np.zeros((2, 5)), [[-1, 0], [0, 1]]):
        with pytest.raises(ValueError, match="expected counts"):
            segmentation(wrong)
