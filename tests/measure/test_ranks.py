"""Ranks under resampling, and Kendall's τ: SciPy, planted ties and proxies, coverage."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from snellen.measure import kendall_tau, proxy_taus, rank_bootstrap
from snellen.measure.kendall import tau_b


def answers(rates: list[float], samples: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (random.random((len(rates), samples)) < np.array(rates)[:, None]).astype(float)


def test_a_model_far_ahead_never_swaps_and_equal_ones_swap_half_the_time() -> None:
    correct = answers([0.95, 0.5, 0.2], 400)
    correct = np.vstack([correct, correct[1]])
    ranks = rank_bootstrap(correct)
    assert ranks.ranks.tolist() == [1, 2.5, 4, 2.5]
    assert (ranks.low[0], ranks.high[0], ranks.swap[0].max()) == (1, 1, 0)
    assert ranks.swap[1, 3] == ranks.swap[3, 1] == 0.5
    assert np.diag(ranks.swap).tolist() == [0] * 4


def test_the_chance_to_swap_is_that_of_the_normal_law() -> None:
    correct = answers([0.62, 0.60], 900, seed=3)
    apart = correct[0] - correct[1]
    expected = stats.norm.sf(abs(apart.mean()) / (apart.std() / 30))
    assert rank_bootstrap(correct, repeats=4000).swap[0, 1] == pytest.approx(expected, abs=0.03)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 5), st.integers(2, 30), st.integers(0, 10**6))
def test_swaps_are_chances_that_agree_from_both_sides(models: int, samples: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    judge = random.choice(["real", "box"], samples)
    correct = random.integers(2, size=(models, samples)).astype(float)
    ranks = rank_bootstrap(correct, judge, repeats=60)
    np.testing.assert_array_equal(ranks.swap, ranks.swap.T)
    assert ((ranks.swap >= 0) & (ranks.swap <= 1)).all()
    assert ranks.ranks.sum() == pytest.approx(models * (models + 1) / 2)
    assert (ranks.low <= ranks.high).all()


def test_ranks_are_averaged_over_judges() -> None:
    correct = np.array([[1, 1, 0, 0.0], [0, 0, 1, 1], [1, 0, 1, 0]])
    ranks = rank_bootstrap(correct, ["a", "a", "b", "b"])
    assert ranks.ranks.tolist() == [2, 2, 2]
    assert rank_bootstrap(correct, ["a", "a", "c", "b"]).ranks == pytest.approx(
        [(1 + 3 + 2.5) / 3, (3 + 1.5 + 1) / 3, 2]
    )


def test_images_of_one_source_stay_together() -> None:
    correct = np.array([[1.0] * 24 + [0] * 16, [0] * 10 + [1] * 20 + [0] * 10])
    many = np.tile(correct, 20)
    plain, whole = rank_bootstrap(many), rank_bootstrap(many, groups=np.tile(np.arange(40), 20))
    assert plain.swap[0, 1] < 0.01 < whole.swap[0, 1]
    assert whole.swap[0, 1] == rank_bootstrap(correct).swap[0, 1]


def test_a_model_that_was_not_asked_some_images_is_ranked_by_the_rest() -> None:
    assert rank_bootstrap([[1, 0, nan, nan], [0, 0, 1, 0]]).ranks.tolist() == [1, 2]


def test_one_image_gives_ranks_without_uncertainty() -> None:
    ranks = rank_bootstrap([[1.0], [0.0]])
    assert ranks.ranks.tolist() == [1, 2]
    assert np.isnan(ranks.low).all()
    assert isnan(ranks.swap[0, 1])


def test_other_numbers_of_judges_are_refused() -> None:
    with pytest.raises(ValueError, match="judge"):
        rank_bootstrap([[1, 0]], ["a"])


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_tau_is_scipys_with_ties(models: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.integers(5, size=(2, models))
    ours, theirs = kendall_tau(a, b), stats.kendalltau(a, b)
    assert (ours.value, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), nan_ok=True)
    both = np.stack([a, b], axis=1)[None] / 5
    assert tau_b(both, 0)[0, 1] == pytest.approx(theirs.statistic, nan_ok=True)
    back = kendall_tau(b, a)
    assert (back.value, back.low, back.high) == pytest.approx((ours.value, ours.low, ours.high), nan_ok=True)


def test_tau_by_hand() -> None:
    # Of 15 pairs two are turned round: (13 − 2) / 15; atanh ± 1.96 √(0.437 / 2).
    tau = kendall_tau([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
    assert tau.value == pytest.approx(11 / 15)
    assert (tau.low, tau.high) == pytest.approx((np.tanh(0.93597 - 0.91616), np.tanh(0.93597 + 0.91616)), abs=1e-4)


def test_perfect_agreement_of_few_models_is_not_certainty() -> None:
    few, many = kendall_tau(range(6), range(6)), kendall_tau(range(30), range(30))
    assert (few.value, few.high, many.value, many.high) == (1, 1, 1, 1)
    assert few.low < many.low < 1
    turned = kendall_tau(range(6), range(6, 0, -1))
    assert (turned.value, turned.low, turned.high) == (-1, -1, pytest.approx(-few.low))


def test_the_interval_over_models_covers_the_true_tau() -> None:
    # Normal pairs with ρ = 0.8 have τ = 2/π asin ρ; 14 models; the binomial sd of the coverage is 1.1 %.
    random, truth = np.random.default_rng(0), 2 / np.pi * np.arcsin(0.8)
    pairs = random.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=(400, 14))
    inside = [tau.low <= truth <= tau.high for tau in (kendall_tau(*one.T) for one in pairs)]
    assert 0.91 < np.mean(inside) < 0.99


def test_no_order_gives_nan() -> None:
    assert isnan(kendall_tau([1, 1, 1], [1, 2, 3]).value)
    assert isnan(kendall_tau([], []).value)
    four = kendall_tau([1, 2, 3, 4, nan], [1, 2, 4, 3, 5])
    assert four.n == 4
    assert four.value == pytest.approx(2 / 3)
    assert isnan(four.low)
    with pytest.raises(ValueError, match="per model"):
        kendall_tau([1, 2], [1, 2, 3])


def test_a_proxy_and_its_opposite_are_told_apart() -> None:
    rates = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    parts = {"real": answers(rates, 800, 0), "box": answers(rates, 800, 1), "gate": answers(rates[::-1], 800, 2)}
    judge = np.repeat(list(parts), 800)
    taus = proxy_taus(np.hstack(list(parts.values())), judge, "real")
    assert list(taus) == ["box", "gate"]
    assert (taus["box"].value, taus["gate"].value) == (1, -1)
    assert taus["box"].images_low > 0.7
    assert taus["gate"].images_high < -0.7
    assert (
        taus["box"].low < taus["box"].images_low
    )  # six models say less about other models than 800 images about these
    with pytest.raises(ValueError, match=r"one of the judges \(real, box, gate\), got 'white'"):
        proxy_taus(np.hstack(list(parts.values())), judge, "white")


def _close_models(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eight models of 0.64 to 0.73, the same by both judges, 100 images each: true accuracies [models], answers and judges."""
    true = np.linspace(0.64, 0.73, 8)
    return true, (random.random((8, 200)) < true[:, None]).astype(float), np.repeat(["real", "box"], 100)


def test_intervals_over_images_hold_the_order_of_close_models() -> None:
    """Their true τ is 1, of which noise leaves about 0.3 and resamples less; the best model is often in the middle."""
    random, taus, ranks = np.random.default_rng(3), [], []
    for _ in range(40):
        _, correct, judge = _close_models(random)
        taus.append(proxy_taus(correct, judge, "real", repeats=200)["box"].images_high >= 1 - 1e-9)
        found, truth = rank_bootstrap(correct, judge, repeats=200), np.arange(8, 0, -1)
        ranks.append(np.mean((found.low <= truth) & (truth <= found.high)))
    assert np.mean(taus) >= 0.93
    assert np.mean(ranks) >= 0.93


def test_two_images_order_nobody_and_many_order_clearly() -> None:
    apart = np.array([[1.0, 1.0], [0.0, 0.0]])
    few = rank_bootstrap(apart)
    assert (few.low.tolist(), few.high.tolist()) == ([1, 1], [2, 2])
    many = rank_bootstrap(np.repeat(apart, 30, axis=1))
    assert (many.low.tolist(), many.high.tolist()) == ([1, 2], [1, 2])
