from fractions import Fraction
from math import isnan, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import interference, interference_null


def by_the_paper(clean, distorted, labels, classes, normaliser="errors"):
    """Equation 1 and table 9 of Marcu & Prügel-Bennett 2022, word by word, in exact fractions: values per run, those of table 9,
    those in which each run has its own class, and cmax."""

    def share(predictions, c):
        wrong = [p for p, label in zip(predictions, labels) if p != label]
        divisor = len(wrong) if normaliser == "errors" else len(labels)
        return Fraction(wrong.count(c), divisor) if wrong else Fraction(0)

    rises = [
        [max(share(after, c) - share(before, c), Fraction(0)) * classes for c in range(classes)]
        for before, after in zip(clean, distorted)
    ]
    means = [mean(rise[c] for rise in rises) for c in range(classes)]
    cmax = means.index(max(means))
    tops = mean(max(rise) for rise in rises)
    values = [rise[cmax] / sum(rise) * means[cmax] if sum(rise) else Fraction(0) for rise in rises]
    highest = max(rise[cmax] for rise in rises)
    worst = [rise[cmax] / sum(rise) * highest if sum(rise) else Fraction(0) for rise in rises]
    own = [max(rise) / sum(rise) * tops if sum(rise) else Fraction(0) for rise in rises]
    return values, worst, own, cmax if max(means) else -1


@st.composite
def answers(draw, lowest=-1):
    """Clean and distorted predictions of some runs on some samples, the labels and the number of classes."""
    classes, runs, samples = draw(st.integers(2, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 25))
    predictions = arrays(int, (runs, samples), elements=st.integers(lowest, classes - 1))
    labels = arrays(int, samples, elements=st.integers(0, classes - 1))
    return draw(predictions), draw(predictions), draw(labels), classes


@given(answers(), st.sampled_from(["errors", "samples"]))
def test_the_index_is_that_of_the_paper(given_answers, normaliser):
    clean, distorted, labels, classes = given_answers
    values, worst, own, dominant = by_the_paper(
        clean.tolist(), distorted.tolist(), labels.tolist(), classes, normaliser
    )
    found = interference(*given_answers, normaliser=normaliser, repeats=0)
    assert found.value == found.index == pytest.approx(float(mean(values)))
    assert found.per_run == pytest.approx([float(value) for value in values])
    assert found.worst_case == pytest.approx(float(mean(worst)))
    assert found.per_run_worst == pytest.approx(float(mean(own)))
    assert found.dominant == dominant
    if len(clean) == 1:
        assert isnan(found.std)
        assert isnan(found.worst_case_std)
    else:
        assert found.std == pytest.approx(stdev(map(float, values)))
        assert found.worst_case_std == pytest.approx(stdev(map(float, worst)))


def test_two_runs_by_hand():
    # Four classes, ten samples of class 0. Errors by predicted class, clean → distorted:
    #   run 0: 1,1,1 of 3 → 4,1,1 of 6; shares 1/3 1/3 1/3 → 4/6 1/6 1/6; only class 1 rises, by 1/3, times K: 4/3
    #   run 1: 1,1,0 of 2 → 2,0,2 of 4; shares 1/2 1/2 0   → 2/4 0 2/4;   only class 3 rises, by 1/2, times K: 2
    # Mean rises: class 1 (4/3 + 0) / 2 = 2/3, class 3 (0 + 2) / 2 = 1. So cmax = 3:
    #   v = 0 / (4/3) · 1 = 0 and 2 / 2 · 1 = 1, index 1/2, sample deviation sqrt(1/2).
    # Table 9: weighted by the highest rise of class 3 in any run, 2: v = 0 and 2, worst case 1, deviation sqrt(2).
    # Each run its own class: its maximum is its whole rise, times the mean maximum (4/3 + 2) / 2 = 5/3, deviation 0.
    labels = np.zeros(10, int)
    clean = [[1, 2, 3, 0, 0, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0, 0, 0, 0, 0]]
    distorted = [[1, 1, 1, 1, 2, 3, 0, 0, 0, 0], [1, 1, 3, 3, 0, 0, 0, 0, 0, 0]]
    found = interference(clean, distorted, labels, 4)
    assert found.dominant == 3
    assert found.n == 10
    assert found.per_run == pytest.approx([0, 1])
    assert found.index == pytest.approx(0.5)
    assert found.std == pytest.approx(sqrt(0.5))
    assert found.worst_case == pytest.approx(1)
    assert found.worst_case_std == pytest.approx(sqrt(2))
    assert found.per_run_worst == pytest.approx(5 / 3)
    assert found.per_run_worst_std == pytest.approx(0)
    assert found.increase == pytest.approx(np.array([[0, 2, -1, -1], [0, 0, -3, 3]]) / 6)


def test_shares_of_samples_instead_of_errors_by_hand():
    # One run, 10 samples: class 1 from 1 to 4 errors, class 2 from 1 to 2. Rises 3/10 and 1/10, times K = 3.
    # Index 3/4 · 0.9 = 0.675.
    labels = np.zeros(10, int)
    clean = [1, 2] + [0] * 8
    distorted = [1, 1, 1, 1, 2, 2] + [0] * 4
    assert interference(clean, distorted, labels, 3, normaliser="samples").index == pytest.approx(0.675)


def test_every_error_in_one_class_is_k_when_clean_data_has_none():
    labels = np.arange(90) % 9
    found = interference(np.tile(labels, (3, 1)), np.full((3, 90), 9), labels, 10)
    assert found.index == found.worst_case == found.low == found.high == 10
    assert found.dominant == 9
    assert found.std == 0


def test_right_answers_are_no_errors():
    # Class 0 is named 8 times, always rightly; the one error is of class 1.
    labels = np.array([0] * 8 + [2])
    found = interference(labels, [0] * 8 + [1], labels, 3)
    assert found.dominant == 1
    assert found.increase.tolist() == [[0, 1, 0]]


def test_an_answer_outside_the_dataset_is_an_error_of_no_class():
    # Distorted: 2 errors of class 1, 2 outside. Shares of all four errors: 1/2 in class 1, the rest in none.
    labels = np.zeros(6, int)
    found = interference(labels, [1, 1, -1, -1, 0, 0], labels, 3)
    assert found.increase.tolist() == [[0, 0.5, 0]]
    assert found.index == 1.5
    # In the clean errors likewise: class 1 has 1 of 2 there and 2 of 4 here, so nothing rises.
    assert interference([1, -1, 0, 0, 0, 0], [1, 1, -1, -1, 0, 0], labels, 3).index == 0
    # Errors that all leave the dataset are of no class at all.
    outside = interference(labels, [-1] * 6, labels, 3)
    assert (outside.index, outside.dominant) == (0, -1)


@given(answers())
def test_nothing_changes_nothing(given_answers):
    clean, _, labels, classes = given_answers
    found = interference(clean, clean, labels, classes, repeats=20)
    assert (found.index, found.worst_case, found.dominant) == (0, 0, -1)
    if len(labels) > 1:
        assert (found.low, found.high) == (0, 0)


def test_no_errors_on_distorted_data_are_no_interference():
    labels = np.array([0, 1, 2, 0])
    found = interference([[1, 1, 1, 0]] * 2, [labels] * 2, labels, 3)
    assert (found.index, found.dominant, found.low, found.high) == (0, -1, 0, 0)


def test_a_run_without_a_rise_counts_as_zero():
    # Run 0 does not change; run 1 sends its only error to class 1: rise 3, mean 1.5, v = 0 and 1 · 1.5.
    labels = np.zeros(4, int)
    assert interference([[2, 0, 0, 0], [0, 0, 0, 0]], [[2, 0, 0, 0], [1, 0, 0, 0]], labels, 3).per_run.tolist() == [
        0,
        1.5,
    ]


def test_no_samples_are_nan():
    found = interference(np.empty((2, 0), int), np.empty((2, 0), int), [], 3)
    assert found.n == 0
    assert found.dominant == -1
    assert found.per_run.shape == (2,)
    assert found.increase.shape == (2, 3)
    numbers = [found.value, found.low, found.high, found.index, found.std, found.worst_case, found.worst_case_std]
    assert np.isnan([*numbers, *found.per_run, *found.increase.flat]).all()
    assert np.isnan(interference_null(np.empty((2, 0), int), np.empty((2, 0), int), [], 3, repeats=4)).all()


def test_one_sample_has_no_interval():
    found = interference([0], [1], [0], 2)
    assert found.index == 2
    assert isnan(found.low)


def test_classes_that_tie_go_to_the_lowest():
    labels = np.zeros(4, int)
    assert interference(labels, [3, 1, 0, 0], labels, 4).dominant == 1


def test_a_tie_is_not_broken_by_rounding():
    # Of ten errors class 1 takes 1, 2, 3 in the three runs and class 2 takes 3, 2, 1, the rest leaves the dataset.
    # As floats 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ; whichever comes first, the lower class is taken.
    labels = np.zeros(10, int)
    runs = np.array([np.repeat([1, 2, -1], [first, 4 - first, 6]) for first in (1, 2, 3)])
    clean = np.zeros_like(runs)
    assert interference(clean, runs, labels, 4).dominant == 1
    assert interference(clean, runs[::-1], labels, 4).dominant == 1


@given(answers(), st.randoms(use_true_random=False))
def test_names_of_classes_do_not_matter(given_answers, random):
    clean, distorted, labels, classes = given_answers
    before = interference(*given_answers, repeats=0)
    means = np.sort(np.maximum(before.increase, 0).mean(axis=0))
    renamed = [*random.sample(range(classes), classes), -1]  # the last is what −1 becomes
    name = np.array(renamed)
    after = interference(name[clean], name[distorted], name[labels], classes, repeats=0)
    assert after.per_run_worst == pytest.approx(before.per_run_worst)
    if means[-1] - means[-2] > 1e-9:  # of classes that tie the first dominates, and which that is hangs on their names
        assert after.index == pytest.approx(before.index)
        assert after.worst_case == pytest.approx(before.worst_case)
        assert after.dominant == name[before.dominant]


@given(answers(), st.randoms(use_true_random=False))
def test_order_and_number_of_samples_do_not_matter(given_answers, random):
    clean, distorted, labels, classes = given_answers
    index = interference(*given_answers, repeats=0).index
    order = random.sample(range(len(labels)), len(labels))
    assert interference(clean[:, order], distorted[:, order], labels[order], classes, repeats=0).index == index
    twice = [*order, *order]
    found = interference(clean[:, twice], distorted[:, twice], labels[twice], classes, repeats=0)
    assert found.index == pytest.approx(index)


@given(answers())
def test_the_index_lies_between_zero_and_the_worst_case_and_that_below_k(given_answers):
    # Neither worst case can be below: the maximum over runs is no less than the mean, and each run's own maximum no less than
    # its rise of cmax, in the share and in the mean.
    found = interference(*given_answers, repeats=20)
    assert found.index <= found.per_run_worst + 1e-12
    assert 0 <= found.index <= found.worst_case + 1e-12
    assert found.worst_case <= given_answers[3] + 1e-12
    if found.n > 1:
        assert 0 <= found.low <= found.value <= found.high <= given_answers[3]


@given(answers())
def test_one_run_may_be_given_without_its_axis(given_answers):
    clean, distorted, labels, classes = given_answers
    flat = interference(clean[0], distorted[0], labels, classes, repeats=20)
    assert str(flat) == str(interference(clean[:1], distorted[:1], labels, classes, repeats=20))
    assert flat.index == pytest.approx(flat.worst_case, nan_ok=True)


def test_distorted_samples_may_be_others_than_the_clean_ones():
    # Clean: 4 samples, errors 1, 2. Distorted: 3 samples of class 2, all taken for class 1. Rise 1 − 1/2, times 3.
    found = interference([1, 2, 0, 0], [1, 1, 1], [0, 0, 0, 0], 3, distorted_labels=[2, 2, 2])
    assert found.index == pytest.approx(1.5)
    assert found.n == 3


def test_samples_that_are_not_paired_are_resampled_apart():
    # The same errors on both sides: paired, every resample has no difference; apart, they differ by chance.
    labels = np.zeros(400, int)
    clean = np.where(np.arange(400) < 200, 1 + np.arange(400) % 3, 0)
    paired = interference(clean, clean, labels, 4)
    apart = interference(clean, clean, labels, 4, distorted_labels=labels)
    assert paired.high == 0
    assert apart.index == 0
    assert apart.high > 0.01


def test_a_thousand_classes_are_told_apart():
    random = np.random.default_rng(0)
    labels = random.integers(0, 1000, 50_000)
    found = interference(random.integers(0, 1000, 50_000), np.full(50_000, 7), labels, 1000, repeats=100)
    assert found.dominant == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"clean": np.zeros((2, 10), int)},
            r"expected clean and distorted of the same shape, got \(2, 10\) and \(3, 10\)",
        ),
        (
            {"clean": np.zeros((2, 9), int), "labels": [0] * 9, "distorted_labels": [0] * 10},
            "expected as many clean as distorted runs, got 2 and 3",
        ),
        ({"labels": [0] * 9}, r"expected one label per sample, got \(9,\) for 10 samples"),
        ({"distorted": np.full((3, 10), 4)}, r"expected predictions in -1\.\.3, got 4"),
        ({"clean": np.full((3, 10), -2)}, r"expected predictions in -1\.\.3, got -2"),
        ({"labels": [-1] * 10}, r"expected labels in 0\.\.3, got -1"),
        ({"clean": np.zeros((3, 10))}, "expected predictions as whole numbers, got float64"),
        ({"clean": np.zeros((1, 3, 10), int)}, r"expected \[samples\] or \[runs, samples\], got an array of shape"),
        ({"normaliser": "error"}, "unknown normaliser 'error'; known: errors, samples"),
    ],
)
def test_a_wrong_call_is_told_what_was_wanted(change, message):
    good = {"clean": np.zeros((3, 10), int), "distorted": np.zeros((3, 10), int), "labels": [0] * 10, "num_classes": 4}
    for measure in (interference, interference_null):
        with pytest.raises(ValueError, match=message):
            measure(**{**good, **change})


def test_unsigned_predictions_are_fine():
    labels = np.zeros(4, np.uint8)
    assert interference(labels, np.array([1, 1, 0, 0], np.uint8), labels, 3).index == 3
