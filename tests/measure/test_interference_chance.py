"""The index by chance: p-values, the paper's own null without clean errors, and its published numbers (B.2)."""

from math import comb, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import chance_of, interference, interference_null, published_chance


def test_b2_states_one_tenth_with_an_error_of_4e_5_and_one_tenth_with_0_30():
    uniform, one = published_chance(500, 10), published_chance(500, 10, "one")
    assert uniform.mean == one.mean == pytest.approx(0.10)
    assert uniform.standard_error == pytest.approx(4e-5, abs=0.5e-5)
    assert one.std == pytest.approx(0.30)


@pytest.mark.parametrize("kind", ["uniform", "one"])
@pytest.mark.parametrize(("classes", "errors"), [(10, 500), (4, 30)])
def test_the_published_numbers_are_those_of_a_hundred_thousand_repetitions_pooled(kind, classes, errors):
    # Equation 1 with the repetitions as runs and no clean errors, written out: v_r = c_r[cmax] / sum(c_r) · mean(c[cmax])
    random = np.random.default_rng(0)
    if kind == "uniform":
        shares = random.multinomial(errors, [1 / classes] * classes, 100_000) / errors
    else:
        shares = np.eye(classes)[random.integers(classes, size=100_000)]
    rise = classes * shares
    cmax = rise.mean(axis=0).argmax()
    values = rise[:, cmax] / rise.sum(axis=1) * rise[:, cmax].mean()
    told = published_chance(errors, classes, kind)
    assert told.mean == pytest.approx(values.mean(), rel=0.02)
    assert told.std == pytest.approx(values.std(), rel=0.02)
    assert told.standard_error == pytest.approx(values.std() / sqrt(100_000), rel=0.02)


def test_runs_with_other_numbers_of_errors_are_pooled_and_those_without_errors_left_out():
    # Variances of a share thrown at two classes: 1/4 of 1/10 and of 1/40; their mean is 1/64.
    assert published_chance([10, 0, 40], 2).std == pytest.approx(1 / 8)
    assert isnan(published_chance([0, 0], 10).mean)
    assert isnan(published_chance([], 10).std)


def answered(clean_counts, distorted_counts):
    """Predictions of one run on samples of the last class, with so many errors of each class, clean and distorted."""
    samples, label = 100, len(clean_counts)

    def spread(counts):
        named = np.repeat(np.arange(len(counts)), counts)
        return np.concatenate([named, np.full(samples - len(named), label)])

    return spread(clean_counts), spread(distorted_counts), np.full(samples, label), label + 1


def test_without_clean_errors_the_whole_histogram_is_a_rise():
    # Ten clean errors all of class 0. One run throws its 20 errors on one class of 4: with the clean errors the share
    # rises by 1 (index 4), or by 0 where it is class 0; without them always by 1.
    arguments = answered([10, 0, 0], [0, 20, 0])
    kept = interference_null(*arguments, kind="one", repeats=400)
    alone = interference_null(*arguments, kind="one", clean_errors=False, repeats=400)
    assert set(kept.tolist()) == {0.0, 4.0}
    assert set(alone.tolist()) == {4.0}


def test_without_clean_errors_five_runs_give_the_numbers_of_the_literal_rule():
    # FACTS 1.1, reading B, though here clean data has 500 errors too: the paper's null does not look at them.
    labels = np.zeros(1000, int)
    wrong = np.where(np.arange(1000) < 500, 1 + np.arange(1000) % 9, 0)
    runs = np.tile(wrong, (5, 1))
    uniform = interference_null(runs, runs, labels, 10, clean_errors=False, repeats=4000)
    one = interference_null(runs, runs, labels, 10, kind="one", clean_errors=False, repeats=4000)
    assert (uniform.mean(), uniform.std()) == (pytest.approx(0.121, abs=0.001), pytest.approx(0.007, abs=0.001))
    assert (one.mean(), one.std()) == (pytest.approx(1.42, abs=0.05), pytest.approx(0.92, abs=0.05))


def test_the_same_seed_throws_the_same_errors_with_and_without_clean_errors():
    arguments = answered([0, 0, 0], [5, 20, 3])
    both = [interference_null(*arguments, clean_errors=kept, repeats=50, seed=3).tolist() for kept in (True, False)]
    assert both[0] == both[1]


def test_the_p_value_of_few_errors_is_that_of_counting():
    # Three errors, all of class 0 of 3 (K = 4 with the true class), no clean errors: index 4, the highest there is.
    # By chance all three fall on one class in 4 of 4³ throws: p = 1/16.
    arguments = answered([0, 0, 0], [3, 0, 0])
    index = interference(*arguments, repeats=0).index
    found = chance_of(index, interference_null(*arguments, repeats=20_000))
    assert index == 4
    assert found.p == pytest.approx(1 / 16, abs=0.006)


def test_five_runs_in_one_class_have_the_p_value_of_agreeing_by_chance():
    # Ten classes, five runs, each with all errors on class 3: all-to-one agrees in one of 10⁴ draws of classes.
    labels = np.zeros(20, int)
    clean, distorted = np.zeros((5, 20), int), np.full((5, 20), 3)
    index = interference(clean, distorted, labels, 10, repeats=0).index
    draws = interference_null(clean, distorted, labels, 10, kind="one", repeats=50_000)
    assert chance_of(index, draws).p == pytest.approx(1e-4, abs=1e-4)
    # Four of five agree at least: index (4/5)² · 10 = 6.4, in 10 · (5 · 9 + 1) of 10⁵ draws.
    distorted[4] = 7
    index = interference(clean, distorted, labels, 10, repeats=0).index
    assert index == pytest.approx(6.4)
    assert chance_of(index, draws).p == pytest.approx(10 * (comb(5, 4) * 9 + 1) / 1e5, abs=0.0015)


def test_one_run_cannot_be_told_from_all_errors_in_one_class():
    arguments = answered([0, 0, 0], [0, 20, 0])
    draws = interference_null(*arguments, kind="one", repeats=100)
    assert chance_of(interference(*arguments, repeats=0).index, draws).p == 1


def test_p_values_of_chance_itself_are_uniform():
    random = np.random.default_rng(0)
    labels = np.zeros(400, int)
    clean = np.where(np.arange(400) < 60, 1 + np.arange(400) % 9, 0)
    told = []
    for seed in range(300):
        counts = random.multinomial(200, [0.1] * 10)
        errors = np.repeat(np.arange(10), counts)
        # Errors thrown on class 0 would be right answers: those samples are of class 1.
        own = np.where(errors == 0, 1, 0)
        arguments = clean, np.concatenate([errors, labels[:200]]), labels, 10, np.concatenate([own, labels[:200]])
        index = interference(*arguments, repeats=0).index
        told.append(chance_of(index, interference_null(*arguments, repeats=99, seed=seed)).p)
    assert np.mean(np.array(told) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(told) == pytest.approx(0.5, abs=0.06)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=30), st.floats(0, 10), st.floats(0, 10))
def test_a_higher_index_is_never_likelier_and_p_never_zero(draws, one, other):
    low, high = sorted((one, other))
    draws = np.array(draws)
    assert 0 < chance_of(high, draws).p <= chance_of(low, draws).p <= 1
    assert chance_of(draws.max() + 1, draws).p == 1 / (1 + len(draws))
    assert chance_of(0.0, draws).p == 1


def test_nothing_to_compare_is_nan():
    for found in (chance_of(float("nan"), np.ones(3)), chance_of(1.0, np.empty(0)), chance_of(1.0, np.full(2, np.nan))):
        assert np.isnan([found.p, found.mean, found.std, found.quantile95]).all()


def test_an_unknown_kind_of_published_chance_is_refused():
    with pytest.raises(ValueError, match="unknown kind 'two'; known: uniform, one"):
        published_chance(500, 10, kind="two")
