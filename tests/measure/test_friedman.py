"""Friedman's test: SciPy with ties, published tables of exact p, the paper's numbers, and what must not change it."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from snellen.measure import friedman

RANKS = st.tuples(st.integers(3, 7), st.integers(2, 8), st.integers(0, 2**32 - 1))


def table(shape: tuple[int, int, int], values: int = 4) -> np.ndarray:
    models, judges, seed = shape
    return np.random.default_rng(seed).integers(values, size=(models, judges)) / 10


@settings(deadline=None)
@given(RANKS)
def test_q_and_p_are_those_of_scipy_with_ties(shape: tuple[int, int, int]) -> None:
    accuracy = table(shape)
    ours = friedman(accuracy, method="chi2")
    if all(len(set(column)) == 1 for column in accuracy.T):
        assert np.isnan([ours.q, ours.p, ours.w]).all()
        return
    theirs = stats.friedmanchisquare(*accuracy)
    assert (ours.q, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(RANKS)
def test_names_of_models_and_judges_and_the_scale_of_accuracy_do_not_matter(shape: tuple[int, int, int]) -> None:
    accuracy, random = table(shape), np.random.default_rng(shape[2])
    first = friedman(accuracy, method="chi2")
    mixed = accuracy[random.permutation(shape[0])][:, random.permutation(shape[1])]
    for same in (friedman(mixed, method="chi2"), friedman(np.exp(3 * accuracy), method="chi2")):
        assert same.q == pytest.approx(first.q, nan_ok=True)
    assert np.isnan(first.w) or -1e-12 <= first.w <= 1 + 1e-12
    np.testing.assert_allclose(first.ranks.sum(0), shape[0] * (shape[0] + 1) / 2)


def test_six_judges_that_agree_on_14_models_have_the_published_limits() -> None:
    alike = friedman(np.repeat(np.arange(14.0)[:, None], 6, axis=1))
    assert (alike.q, alike.w, alike.method) == (pytest.approx(78), pytest.approx(1), "chi2")
    assert alike.p == pytest.approx(2.6e-11, rel=0.03)
    assert alike.mean_ranks.tolist() == list(range(14, 0, -1))
    assert stats.chi2.isf(0.05, 13) == pytest.approx(22.3620, abs=5e-5)


@pytest.mark.parametrize(
    ("judges", "p"),
    [
        ([(3, 2, 1)] * 3, 1 / 36),  # Q = 6: all agree
        ([(3, 2, 1), (3, 2, 1), (3, 1, 2)], 0.194),  # Q = 4.667
        ([(3, 2, 1), (3, 1, 2), (2, 3, 1)], 0.361),  # Q = 2.667
        ([(3, 2, 1)] * 4, 0.0046),  # Q = 8
        ([(3, 2, 1), (3, 2, 1), (3, 2, 1), (3, 1, 2)], 0.042),  # Q = 6.5
    ],
)
def test_few_judges_have_the_p_of_friedmans_exact_tables(judges: list[tuple[int, ...]], p: float) -> None:
    result = friedman(np.array(judges).T)
    assert result.method == "exact"
    assert result.p == pytest.approx(p, abs=6e-4)


def test_random_permutations_agree_with_the_exact_p_and_with_chi2() -> None:
    random = np.random.default_rng(4)
    accuracy = random.random((4, 4)) + 0.1 * np.arange(4)[:, None]
    exact = friedman(accuracy)
    wide = random.random((6, 40)) + 0.02 * np.arange(6)[:, None]
    drawn = friedman(wide, method="permutation")
    assert (exact.method, drawn.method) == ("exact", "permutation")
    assert exact.p == pytest.approx(_counted(accuracy, exact.q), abs=0.04)
    assert drawn.p == pytest.approx(friedman(wide).p, abs=0.03)


def _counted(accuracy: np.ndarray, q: float) -> float:
    random = np.random.default_rng(0)
    shuffled = random.permuted(np.broadcast_to(accuracy, (1500, *accuracy.shape)), axis=1)
    return float(np.mean([stats.friedmanchisquare(*one).statistic >= q - 1e-9 for one in shuffled]))


@pytest.mark.parametrize(
    ("models", "judges", "method"),
    [(14, 6, "chi2"), (5, 6, "chi2"), (4, 16, "chi2"), (4, 15, "permutation"), (14, 5, "permutation"), (3, 2, "exact")],
)
def test_the_rule_that_chooses_the_method(models: int, judges: int, method: str) -> None:
    assert friedman(np.random.default_rng(0).random((models, judges))).method == method


def test_p_by_permutation_holds_its_promise_where_chi2_never_rejects() -> None:
    # 5 models, 2 judges: no Q reaches the 95% point of χ². The binomial sd of the share is 1.1 %.
    random = np.random.default_rng(1)
    results = [friedman(random.random((5, 2))) for _ in range(400)]
    assert {one.method for one in results} == {"exact"}
    assert 0.02 < np.mean([one.p <= 0.05 for one in results]) < 0.08
    assert not any(stats.chi2.sf(one.q, 4) <= 0.05 for one in results)


def test_a_judge_with_nan_does_not_count() -> None:
    accuracy = np.random.default_rng(2).random((5, 7))
    gap = np.column_stack([accuracy, [0.1, nan, 0.2, 0.3, 0.4]])
    assert friedman(gap) == friedman(accuracy)


@pytest.mark.parametrize("shape", [(0, 0), (5, 0), (5, 1), (1, 5), (0, 5)])
def test_too_little_gives_nan(shape: tuple[int, int]) -> None:
    result = friedman(np.random.default_rng(0).random(shape))
    assert np.isnan([result.q, result.p, result.w]).all()
    assert result.method == "none"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected accuracy \[models, judges\]"):
        friedman([1, 2, 3])
    with pytest.raises(ValueError, match="expected method"):
        friedman([[1, 2], [3, 4]], method="exactly")  # type: ignore[arg-type]
