"""Tests against a bound: beside SciPy's binomial test, one printed example of Tango (1998), and likelihoods found by search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm

from snellen.measure import Estimate, accuracy
from snellen.measure.bound_test import interval_test, share_test, units_to_decide, worth_images
from snellen.measure.paired_changes import mcnemar, paired_bound, tango


@pytest.mark.parametrize(
    ("right", "n", "bound"), [(34, 40, 0.95), (0, 30, 0.2), (30, 30, 0.8), (250, 500, 0.55), (1, 2, 0.5)]
)
def test_a_share_against_a_bound_is_the_exact_binomial_test(right: int, n: int, bound: float) -> None:
    estimate = accuracy(np.arange(n) < right)
    test = share_test(estimate, bound)
    assert test.below == pytest.approx(binomtest(right, n, bound, "less").pvalue)
    assert test.above == pytest.approx(binomtest(right, n, bound, "greater").pvalue)


def test_one_wrong_answer_disproves_a_share_of_one() -> None:
    assert share_test(accuracy(np.arange(40) < 39), 1.0).below == 0
    assert share_test(accuracy(np.ones(40)), 1.0).below == 1
    assert share_test(accuracy(np.arange(40) < 1), 0.0).above == 0


def test_plain_answers_are_worth_their_number_and_those_of_videos_fewer() -> None:
    random = np.random.default_rng(0)
    assert worth_images(accuracy(random.random(400) < 0.7)) == 400
    alike = np.repeat(random.random(40) < 0.7, 10).astype(float)
    assert 25 < worth_images(accuracy(alike, np.repeat(np.arange(40), 10))) < 45  # 40 answers, each ten times
    assert math.isnan(worth_images(Estimate(0.5, math.nan, math.nan, 3)))


def test_the_p_of_an_interval_is_2_5_percent_where_the_bound_is_its_end() -> None:
    estimate = Estimate(0.3, 0.1, 0.6, 50)
    assert interval_test(estimate, 0.1, 49).above == pytest.approx(0.025)
    assert interval_test(estimate, 0.6, 49).below == pytest.approx(0.025)
    assert interval_test(estimate, 0.3, 49).below == pytest.approx(0.5)


@pytest.mark.parametrize(("more", "less"), [(0, 6), (10, 25), (40, 40), (3, 0)])
def test_mcnemar_is_the_binomial_test_of_what_differs(more: int, less: int) -> None:
    test = mcnemar(more, less)
    assert test.below == pytest.approx(binomtest(more, more + less, 0.5, "less").pvalue)
    assert test.above == pytest.approx(binomtest(more, more + less, 0.5, "greater").pvalue)
    assert mcnemar(0, 0).below == 1


def test_the_printed_example_of_tango() -> None:
    """Two disinfections on 44 lenses, one of which differs; 10 points allowed: Z = 1.709 (Tango 1998, section 5)."""
    assert -norm.ppf(tango(0, 1, 44, -0.1).above) == pytest.approx(1.709, abs=5e-4)


@pytest.mark.parametrize(("more", "less", "n", "bound"), [(10, 20, 500, -0.05), (0, 12, 1000, -0.02), (3, 3, 50, 0.1)])
def test_tango_is_the_score_at_the_likeliest_truth_that_the_bound_allows(
    more: int, less: int, n: int, bound: float
) -> None:
    def unlikely(share: float) -> float:
        equal = (n - more - less) * math.log(1 - 2 * share - bound)
        return -((more * math.log(share + bound) if more else 0) + less * math.log(share) + equal)

    lowest = max(0.0, -bound) + 1e-12
    share = minimize_scalar(
        unlikely, bounds=(lowest, (1 - bound) / 2 - 1e-12), method="bounded", options={"xatol": 1e-13}
    ).x
    score = (more - less - n * bound) / math.sqrt(n * (2 * share + bound - bound**2))
    assert tango(more, less, n, bound).below == pytest.approx(norm.cdf(score), abs=1e-5)


def test_equal_answers_of_few_images_do_not_show_that_nothing_was_lost() -> None:
    """Of 40 images without a difference 0.98^40 = 45% of models would show none that lost 2 points."""
    same = np.ones(40)
    assert paired_bound(same, same, -0.02).test.above > 0.3
    assert paired_bound(np.ones(400), np.ones(400), -0.02).test.above < 0.025


def test_a_single_group_tells_nothing() -> None:
    test = paired_bound([1, 0, 1], [0, 0, 1], 0.0, ["a", "a", "a"])
    assert math.isnan(test.test.below)
    assert math.isnan(test.drop_among(1))


def test_groups_need_more_images_and_runs_are_averaged() -> None:
    random = np.random.default_rng(1)
    videos = np.repeat(np.arange(20), 20)
    a = (random.random(20)[videos] < 0.7).astype(float)
    b = (random.random(20)[videos] < 0.7).astype(float)
    assert paired_bound(a, b, 0.0, videos).drop_among(1) > 2 * paired_bound(a, b).drop_among(1)
    assert paired_bound(np.stack([a, a]), np.stack([b, b])).difference.value == paired_bound(a, b).difference.value


def test_more_tests_ask_for_a_larger_drop() -> None:
    random = np.random.default_rng(2)
    paired = paired_bound(random.random(500) < 0.8, random.random(500) < 0.8)
    assert paired.drop_among(1) < paired.drop_among(20) < 2 * paired.drop_among(1)


def test_four_times_the_images_halve_the_error() -> None:
    assert units_to_decide(0.02, 0.02, 100) == pytest.approx(100 * (1.959964 + 0.841621) ** 2)
    assert units_to_decide(0.02, 0.01, 100) == pytest.approx(units_to_decide(0.02, 0.02, 100) / 4)
    assert units_to_decide(0.0, 0.01, 100) == math.inf
    assert math.isnan(units_to_decide(math.nan, 0.01, 100))
