"""The variance of shares of wrong answers, from counts of runs and pairs of runs, against the sum over images and classes."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.measure.interference_noise import _spread, agreement_of, divisors
from snellen.measure.wrong_answers import Normaliser, WrongAnswers, conditions, wrong_answers


def by_images(parts: list[tuple[WrongAnswers, float]]) -> float:
    """Per image and class: what its errors add to the mean shares less what these take from it, squared and summed."""
    deviation = np.zeros((parts[0][0].samples, parts[0][0].num_classes + 1))
    for one, sign in parts:
        for row, whole, counts in zip(one.bin, divisors(one), one.histogram):
            adds = np.eye(one.num_classes + 2)[row][:, :-1]
            taken = np.ones(one.samples) if one.normaliser == "samples" else adds.sum(axis=1)
            deviation += sign * (adds - taken[:, None] * counts / whole) / (one.runs * whole)
    return float((deviation**2).sum())


@pytest.mark.parametrize("normaliser", ["errors", "samples"])
@pytest.mark.parametrize("runs", [1, 3])
def test_the_spread_is_the_sum_over_images_and_classes(runs: int, normaliser: Normaliser) -> None:
    random = np.random.default_rng(runs)
    labels = random.integers(0, 5, 200)
    clean = np.where(random.random((runs, 200)) < 0.6, labels, random.integers(-1, 5, (runs, 200)))
    distorted = np.where(random.random((runs, 200)) < 0.5, clean, random.integers(-1, 5, (runs, 200)))
    before, after = (wrong_answers(pred, labels, 5, normaliser) for pred in (clean, distorted))
    for parts in ([(before, 1.0)], [(before, -1.0), (after, 1.0)]):
        assert _spread(parts) == pytest.approx(by_images(parts), rel=1e-12)


def test_copies_of_a_run_agree_wholly_and_strangers_do_not() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 4000)
    one = np.where(random.random(4000) < 0.6, labels, random.integers(0, 5, 4000))
    others = np.where(random.random((3, 4000)) < 0.6, labels, random.integers(0, 5, (3, 4000)))
    assert agreement_of(wrong_answers(np.stack([one] * 3), labels, 5, "errors")) == pytest.approx(1, abs=1e-9)
    assert agreement_of(wrong_answers(others, labels, 5, "errors")) < 0.05
    assert agreement_of(wrong_answers(one, labels, 5, "errors")) == 0


def test_what_each_sample_adds_is_the_histogram_answers_outside_the_classes_included() -> None:
    """Three classes and -1, two runs: errors by the class answered; the last column is what is outside."""
    labels = np.array([0, 1, 2, 0, 1, 2])
    clean = np.array([[0, 2, -1, 1, 1, 2], [-1, -1, 2, 0, 0, 2]])
    before, _ = conditions(clean, clean, labels, 3, None, "errors")
    assert before.histogram.tolist() == [[0, 1, 1, 1], [1, 0, 0, 2]]
    added = before.columns()
    assert added.toarray().sum(0).tolist() == before.histogram.ravel().tolist()
    assert added.toarray().sum(1).tolist() == [1, 2, 1, 1, 1, 0]
