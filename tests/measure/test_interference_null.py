"""What the index is when errors fall by chance: the simulations of B.2 and the null that keeps the real errors."""

import numpy as np
import pytest

from snellen.measure import interference, interference_null

# B.2 of the paper: 500 errors thrown at 10 classes, and what index that gives by chance.


def thrown(classes):
    """Predictions whose errors are just the given classes [runs, errors], and their labels.

    Each error has two samples, one of class 0 and one of class 1. Class 0 is thrown as an error on the second, any
    other on the first; the other sample of the two is answered rightly.
    """
    labels = np.repeat([0, 1], classes.shape[1])
    return np.concatenate([classes, classes != 0], axis=1), labels


def no_errors_then(runs, errors):
    """Arguments for the null: no clean errors, `errors` distorted ones in each run, ten classes."""
    labels = np.zeros(errors, int)
    return np.tile(labels, (runs, 1)), np.ones((runs, errors), int), labels, 10


def test_b2_errors_thrown_at_random_and_pooled_give_one_tenth():
    # No run has clean errors, so v = share of cmax · mean share of cmax · 10, and both shares are about 1/10.
    distorted, labels = thrown(np.random.default_rng(0).integers(0, 10, (10_000, 500), np.int8))
    clean = np.tile(labels, (10_000, 1))
    assert interference(clean, distorted, labels, 10, repeats=0).index == pytest.approx(0.10, abs=0.001)
    assert interference_null(clean, distorted, labels, 10, repeats=1)[0] == pytest.approx(0.10, abs=0.001)


def test_b2_all_errors_of_a_run_in_one_random_class_and_pooled_give_one_tenth():
    # v is 1 in the tenth of the runs that hit cmax, else 0: 0.10 ± 0.30 as published.
    distorted, labels = thrown(np.random.default_rng(0).integers(0, 10, (20_000, 1)).repeat(20, axis=1))
    clean = np.tile(labels, (20_000, 1))
    found = interference(clean, distorted, labels, 10, repeats=0)
    assert found.index == pytest.approx(0.10, abs=0.01)
    assert found.std == pytest.approx(0.30, abs=0.02)
    null = interference_null(clean, distorted, labels, 10, kind="one", repeats=1)
    assert null[0] == pytest.approx(0.10, abs=0.01)


@pytest.mark.parametrize(("errors", "expected"), [(500, 0.121), (5000, 0.106)])
def test_b2_by_the_rule_of_five_runs(errors, expected):
    null = interference_null(*no_errors_then(5, errors), repeats=4000)
    assert null.mean() == pytest.approx(expected, abs=0.001)
    if errors == 500:
        assert null.std() == pytest.approx(0.007, abs=0.001)


def test_b2_by_the_rule_of_five_runs_in_one_class_each():
    null = interference_null(*no_errors_then(5, 20), kind="one", repeats=4000)
    assert null.mean() == pytest.approx(1.42, abs=0.05)
    assert null.std() == pytest.approx(0.92, abs=0.05)


def test_b2_with_clean_errors_that_are_random_too():
    # 500 clean errors in each of five runs, thrown at random 400 times, each with 20 throws of the distorted ones.
    random = np.random.default_rng(0)
    null = []
    for seed in range(400):
        clean, labels = thrown(random.integers(0, 10, (5, 500)))
        null.append(interference_null(clean, clean, labels, 10, repeats=20, seed=seed))
    assert np.mean(null) == pytest.approx(0.037, abs=0.002)
    assert np.quantile(null, 0.95) == pytest.approx(0.067, abs=0.004)


def test_the_null_keeps_the_clean_errors_and_the_number_of_distorted_ones():
    # 100 samples; clean 10 errors, all of class 1; distorted 40 errors, 10 of them outside the dataset.
    labels = np.zeros(100, int)
    clean, distorted = np.repeat([1, 0], [10, 90]), np.repeat([3, -1, 0], [30, 10, 60])
    null = interference_null(clean, distorted, labels, 10, normaliser="samples", kind="one", repeats=2000)
    # All 40 in one class: it rises by 0.4, times 10; one time in ten it is class 1 and rises by 0.3.
    assert set(null.round(9)) == {3.0, 4.0}
    assert np.mean(null < 3.5) == pytest.approx(0.1, abs=0.03)


def test_the_null_is_seeded_and_the_same_in_blocks():
    arguments = no_errors_then(3, 50)
    long, short = (
        interference_null(*arguments, repeats=40_000, seed=1),
        interference_null(*arguments, repeats=9, seed=1),
    )
    np.testing.assert_array_equal(long[:9], short)
    assert interference_null(*arguments, repeats=9, seed=2).tolist() != short.tolist()
    assert interference_null(*arguments, repeats=0).shape == (0,)


def test_an_unknown_kind_of_chance_is_refused():
    with pytest.raises(ValueError, match="unknown kind 'two'; known: uniform, one"):
        interference_null([0], [0], [0], 2, kind="two")
