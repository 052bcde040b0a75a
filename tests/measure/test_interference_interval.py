"""The interval of the index: it holds the truth whether or not anything rises, and narrows as it should."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from snellen.measure import Estimate, chance_of, error_agreement, interference, interference_null, state_of
from snellen.measure.interference_chance import least_difference
from snellen.measure.interference_interval import plausible_index
from snellen.measure.interference_noise import noise_of
from snellen.measure.wrong_answers import conditions

SIMULATIONS = 40
LEAST_COVERED = 34  # of 40 at 95%: fewer come up once in 300 times


def pulled(random, runs, samples, pull, agreement=0.0):
    """Ten classes; 10% errors on clean data, 40% on distorted data of which `pull` fall on class 3: a true index of 9 · pull.

    A part `agreement` of the images has one fate in all runs.
    """
    labels = random.integers(0, 10, samples)

    def answer(error, pull):
        together = random.random(samples) < agreement

        def fate():
            return np.where(together, random.random(samples), random.random((runs, samples)))

        named = np.where(fate() < pull, 3, (fate() * 10).astype(int))
        return np.where(fate() < error, named, labels)

    return answer(0.1, 0), answer(0.4, pull), labels, 10


@pytest.fixture(scope="module", params=[(0.0, 0.0), (0.0, 0.8), (0.1, 0.0), (0.2, 0.8)], ids=str)
def simulated(request):
    """The truth, and what is measured on so many data sets."""
    pull, agreement = request.param
    random = np.random.default_rng(1)
    found = [
        interference(*pulled(random, 4, 1000, pull, agreement), repeats=150, seed=seed) for seed in range(SIMULATIONS)
    ]
    return 9 * pull, found


def test_the_interval_holds_the_truth_whether_or_not_anything_rises(simulated):
    truth, found = simulated
    assert sum(one.low <= truth <= one.high for one in found) >= LEAST_COVERED
    # nor is it wide for nothing: its ends, in the sum, lie about as far apart as ± 2 standard errors of the estimate do
    if truth:
        width = np.mean([one.high - one.low for one in found])
        assert width == pytest.approx(3.92 * np.std([one.value for one in found]), rel=0.4)


def test_the_estimate_is_near_the_truth_where_the_papers_is_not(simulated):
    truth, found = simulated
    if truth == pytest.approx(0.9):
        assert np.mean([one.index for one in found]) < 0.6
    if truth:
        assert np.median([one.value for one in found]) == pytest.approx(truth, abs=0.25)
    else:
        assert (
            0.25 < np.mean([one.value == 0 for one in found]) < 0.75
        )  # half of the data sets lie below no rise at all


def test_where_nothing_rises_the_interval_begins_at_zero_and_says_what_could_have_been_seen(simulated):
    truth, found = simulated
    unseen = [one for one in found if not one.beyond_chance]
    assert all(one.low == 0 for one in unseen)
    if truth == 0:
        assert len(unseen) >= LEAST_COVERED
        assert all(0 < one.detectable < 2 for one in unseen)


def test_runs_that_make_the_same_errors_are_one_run():
    # Four copies of a run tell no more than the run: the intervals agree but for the draws.
    random = np.random.default_rng(0)
    clean, distorted, labels, classes = pulled(random, 1, 2000, 0.2)
    one = interference(clean, distorted, labels, classes)
    four = interference(np.tile(clean, (4, 1)), np.tile(distorted, (4, 1)), labels, classes)
    assert error_agreement(np.tile(clean, (4, 1)), labels, classes) == pytest.approx(1)
    assert (four.value, four.low, four.high) == pytest.approx((one.value, one.low, one.high), rel=0.06)
    apart = interference(*pulled(random, 4, 2000, 0.2))
    assert (apart.high - apart.low) < 0.65 * (one.high - one.low)


def test_agreement_is_the_part_of_the_errors_that_runs_share():
    random = np.random.default_rng(0)
    for part in (0.0, 0.5, 0.8):
        clean, _, labels, _ = pulled(random, 5, 8000, 0.0, part)
        assert error_agreement(clean, labels, 10) == pytest.approx(part, abs=0.05)
    assert error_agreement(clean[:1], labels, 10) == 0


def test_the_spread_of_shares_over_images_by_hand():
    # Two runs, four images of class 0. Run 0 errs on images 0, 1 with classes 1, 2; run 1 on images 0, 1 with 1, 1.
    # Shares: run 0 (1/2, 1/2), run 1 (1, 0). Per image, error less share, over 2 errors and 2 runs:
    #   image 0: run 0 (+1/2, −1/2)/4, run 1 (0, 0); image 1: run 0 (−1/2, +1/2)/4, run 1 (0, 0).
    # Squares: 2 · 2 · (1/8)² = 1/16.
    from snellen.measure.interference_noise import _spread

    labels = np.zeros(4, int)
    errors, _ = conditions([[1, 2, 0, 0], [1, 1, 0, 0]], [[0] * 4] * 2, labels, 3, None, "errors")
    assert _spread([(errors, 1.0)]) == pytest.approx(1 / 16)
    assert _spread([(errors, 1.0), (errors, -1.0)]) == pytest.approx(0)


def test_noise_is_that_of_other_images():
    # Against brute force: the same case simulated often, and the noise that one data set gives.
    random = np.random.default_rng(0)
    sets = [pulled(random, 3, 1000, 0.2, 0.5) for _ in range(200)]
    seen = np.stack([interference(*one, repeats=0).increase for one in sets])
    before, after = conditions(*sets[0], None, "errors")
    noise = noise_of(before, after, True, 1000, 0).around(np.append(seen.mean(axis=(0, 1)), 0.0))[..., :-1]
    assert noise.std(axis=0).mean() == pytest.approx(seen.std(axis=0).mean(), rel=0.07)
    assert noise.mean(axis=1).std(axis=0).mean() == pytest.approx(seen.mean(axis=1).std(axis=0).mean(), rel=0.1)


def test_what_others_gain_for_certain_lowers_the_index():
    # Large data: class 3 gains 30 points, class 5 gains 15. Truth: 10 · 0.30 · (0.30 / 0.45) = 2.0, which the interval holds;
    # a pattern in which class 3 rises alone would give about 3.
    random = np.random.default_rng(0)
    labels = np.zeros(40_000, int)
    even = np.array([0, *[1 / 9] * 9])
    after = even * 0.55 + 0.0
    after[3] += 0.30
    after[5] += 0.15
    clean = np.where(random.random(40_000) < 0.3, random.choice(10, 40_000, p=even), labels)
    distorted = np.where(random.random(40_000) < 0.6, random.choice(10, 40_000, p=after), labels)
    rises = (after - even)[[3, 5]]
    truth = 10 * rises[0] ** 2 / rises.sum()
    found = interference(clean, distorted, labels, 10)
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.3


def test_the_interval_narrows_with_the_square_root_of_the_samples():
    random = np.random.default_rng(0)
    few, many = (interference(*pulled(random, 3, samples, 0.5)) for samples in (1000, 16_000))
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(4, rel=0.25)


def test_the_interval_is_seeded_and_more_draws_move_it_little():
    data = conditions(*pulled(np.random.default_rng(0), 2, 1000, 0.2), None, "errors")
    first, again, more = (plausible_index(*data, True, draws, 3) for draws in (300, 300, 2000))
    assert first == again
    assert plausible_index(*data, True, 300) == plausible_index(*data, True, 300, 0) != first
    assert (first.low, first.high) == pytest.approx((more.low, more.high), abs=0.15)


def test_shares_of_samples_have_an_interval_too():
    random = np.random.default_rng(0)
    arguments = pulled(random, 3, 2000, 0.3)
    found = interference(*arguments, normaliser="samples")
    many = interference(*pulled(random, 1, 300_000, 0.3), normaliser="samples", repeats=0)
    assert found.low <= many.index <= found.high


def estimate(value, low, high):
    return Estimate(value, low, high, 100)


def test_the_state_knows_its_uncertainty():
    noise = estimate(0.432, 0.3, 0.6)
    # a hair above or below the yardstick cannot be told apart from it
    assert state_of(estimate(0.433, 0.3, 0.6), noise, 0.001) == "unclear"
    assert state_of(estimate(0.420, 0.3, 0.6), noise, 0.001) == "unclear"
    # 2.0 − 0.432 less the root of 0.3² + 0.168²
    assert least_difference(estimate(2.0, 1.7, 2.3), noise) == pytest.approx(1.568 - np.hypot(0.3, 0.168))
    assert state_of(estimate(2.0, 1.7, 2.3), noise, 0.001) == "above"
    assert state_of(estimate(2.0, 1.7, 2.3), noise, 0.06) == "unclear"  # chance reaches it
    assert state_of(estimate(2.0, 0.0, 2.3), estimate(0, 0, 0), 0.001) == "unclear"  # the interval does not exclude 0
    assert state_of(estimate(0.3, 0.2, 0.43), noise, 0.001) == "not above"
    assert state_of(estimate(0.1, 0.0, 0.25), estimate(0, 0, 0.1), 0.5) == "not above"
    assert state_of(estimate(0.1, 0.0, 0.26), estimate(0, 0, 0.1), 0.5) == "unclear"


def test_without_a_p_or_an_interval_nothing_can_be_told():
    good = estimate(2.0, 1.7, 2.3)
    assert state_of(good, estimate(0, 0, 0.1), nan) == "unclear"
    assert state_of(replace(good, low=nan), estimate(0, 0, 0.1), 0.001) == "unclear"
    assert state_of(good, estimate(nan, nan, nan), 0.001) == "unclear"


def test_errors_thrown_together_reach_further_by_chance():
    # Runs that agree wholly are one run: four copies have the law of one.
    labels = np.zeros(2000, int)
    wrong = np.where(np.arange(2000) < 500, 1 + np.arange(2000) % 9, 0)
    one, four = (interference_null(*[np.tile(wrong, (runs, 1))] * 2, labels, 10, agreement=1.0) for runs in (1, 4))
    apart = interference_null(*[np.tile(wrong, (4, 1))] * 2, labels, 10)
    assert np.quantile(four, 0.95) == pytest.approx(np.quantile(one, 0.95), rel=0.1)
    assert np.quantile(four, 0.95) > 1.1 * np.quantile(apart, 0.95)


def test_chance_raises_few_alarms_where_runs_agree():
    # Nothing is pulled. The null that throws runs apart is exceeded too often; the one that knows how they agree is not.
    random = np.random.default_rng(0)
    alarms = {0: 0, 1: 0}
    for seed in range(100):
        arguments = pulled(random, 4, 600, 0.0, 0.9)
        index = interference(*arguments, repeats=0).index
        for known in alarms:
            part = known * error_agreement(arguments[1], arguments[2], 10)
            alarms[known] += (
                chance_of(index, interference_null(*arguments, agreement=part, repeats=99, seed=seed)).p < 0.05
            )
    assert alarms[1] <= 12
    assert alarms[1] < alarms[0]


@pytest.mark.parametrize("pulls", [{3: 0.1, 5: 0.1}, {3: 0.15, 5: 0.12}, {3: 0.1, 5: 0.1, 7: 0.1}], ids=str)
def test_the_interval_holds_the_truth_where_several_classes_rise_alike(pulls):
    """Of 40% errors these parts go to some classes, the rest to any: the index is that of the rises by the paper's formula."""
    random, covered = np.random.default_rng(4), []
    rises = 10 * np.array([pull - sum(pulls.values()) / 10 for pull in pulls.values()])
    truth = rises.max() ** 2 / rises.sum()
    for seed in range(SIMULATIONS * 2):
        labels, fate, named = random.integers(0, 10, 1000), random.random(1000), random.integers(0, 10, 1000)
        clean = np.where(random.random(1000) < 0.1, named, labels)
        for name, start in zip(pulls, np.cumsum([0, *pulls.values()])):
            named = np.where((fate >= start) & (fate < start + pulls[name]), name, named)
        found = interference(
            clean, np.where(random.random(1000) < 0.4, named, labels), labels, 10, repeats=150, seed=seed
        )
        covered.append(found.low <= truth <= found.high)
    assert sum(covered) >= 2 * LEAST_COVERED + 2
