"""The difference of two iOcclusions, against the measure itself, hand-worked numbers and a bootstrap by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.measure import Covered, iocclusion, iocclusion_gap, mean_iocclusion


def right(share: float, count: int = 200, runs: int = 1, seed: int = 0) -> np.ndarray:
    """Scores [runs, count] of which exactly this share is right, in an order of their own."""
    scores = np.zeros((runs, count))
    scores[:, : round(share * count)] = 1
    return np.random.default_rng(seed).permuted(scores, axis=1)


def side(train: float, test: float, covered: list[tuple[float, float]], count: int = 200, seed: int = 0) -> Covered:
    return Covered(
        right(train, count, seed=seed),
        right(test, count, seed=seed + 1),
        [right(one, count, seed=seed + 2) for one, _ in covered],
        [right(two, count, seed=seed + 3) for _, two in covered],
    )


def test_the_mean_over_shares_is_that_of_the_measure() -> None:
    held = side(1.0, 0.9, [(0.8, 0.6), (0.5, 0.45)])
    assert mean_iocclusion(held).value == pytest.approx((2.0 + 0.5) / 2)
    single = [
        iocclusion(held.train, held.test, seen, unseen) for seen, unseen in zip(held.train_occluded, held.test_occluded)
    ]
    assert mean_iocclusion(held).value == pytest.approx(np.mean([one.value for one in single]))


@pytest.mark.parametrize("covered", [(0.9, 0.5), (0.5, 0.48)], ids=["clear", "sign not clear"])
def test_the_interval_of_one_share_is_that_of_the_measure(covered: tuple[float, float]) -> None:
    held = side(1.0, 0.8, [covered])
    one, other = mean_iocclusion(held), iocclusion(held.train, held.test, held.train_occluded[0], held.test_occluded[0])
    assert (one.low, one.high, one.n) == pytest.approx((other.low, other.high, other.n))
    assert one.low < one.value < one.high
    assert (one.low == 0) == (covered == (0.5, 0.48))
    both = side(1.0, 0.8, [(0.9, 0.5), (0.5, 0.48)])
    assert 0 < mean_iocclusion(both).low < mean_iocclusion(held if one.low else side(1.0, 0.8, [(0.9, 0.5)])).low


def test_the_same_images_twice_are_not_apart_at_all() -> None:
    held = side(1.0, 0.9, [(0.8, 0.6)])
    gap = iocclusion_gap(held, held, shared=True)
    assert (gap.value, gap.low, gap.high) == (0, 0, 0)
    apart = iocclusion_gap(held, held, shared=False)
    assert apart.low < 0 < apart.high  # drawn apart, they may differ


def test_a_worked_example_and_its_sign() -> None:
    one, two = side(1.0, 0.8, [(0.9, 0.5)]), side(1.0, 0.8, [(0.6, 0.5)], seed=9)
    gap = iocclusion_gap(one, two, shared=False)
    assert (gap.value, gap.first, gap.second) == pytest.approx((1.5, 2.0, 0.5))
    assert gap.low > 0
    assert gap.n == 400
    back = iocclusion_gap(two, one, shared=False)
    assert back.value == pytest.approx(-1.5)


def test_the_interval_is_the_one_of_a_bootstrap_by_hand() -> None:
    """Shared images: train and test drawn apart, an image with its covered selves."""
    first, second = side(0.95, 0.7, [(0.8, 0.5)]), side(0.95, 0.7, [(0.7, 0.55)])
    random, values = np.random.default_rng(4), []
    for _ in range(4000):
        rows, other = random.integers(200, size=200), random.integers(200, size=200)

        def ratio(held: Covered, rows: np.ndarray = rows, other: np.ndarray = other) -> float:
            seen, unseen = (np.asarray(one)[0, at].mean() for one, at in ((held.train, rows), (held.test, other)))
            hidden = (
                np.asarray(held.train_occluded)[0, 0, rows].mean() - np.asarray(held.test_occluded)[0, 0, other].mean()
            )
            return float(abs(hidden) / abs(seen - unseen))

        values.append(ratio(first) - ratio(second))
    low, high = np.quantile(values, (0.025, 0.975))
    gap = iocclusion_gap(first, second, shared=True, repeats=4000)
    assert (gap.low, gap.high) == pytest.approx((low, high), abs=0.06)


def test_no_gap_says_nothing_and_an_uncertain_one_has_no_end() -> None:
    none = iocclusion_gap(side(0.8, 0.8, [(0.5, 0.4)]), side(0.9, 0.8, [(0.5, 0.4)]), shared=False)
    assert np.isnan([none.value, none.low, none.high]).all()
    small = side(0.82, 0.8, [(0.6, 0.4)], count=50)
    assert mean_iocclusion(small).high > 20
    empty = Covered(np.empty((1, 0)), np.empty((1, 0)), [np.empty((1, 0))], [np.empty((1, 0))])
    assert np.isnan(mean_iocclusion(empty).value)


def test_runs_are_paired_where_there_are_as_many() -> None:
    two = Covered(right(1.0, runs=2), right(0.9, runs=2), [right(0.8, runs=2)], [right(0.7, runs=2)])
    one = side(1.0, 0.9, [(0.8, 0.6)])
    assert len(iocclusion_gap(two, two, shared=True).per_run) == 2
    assert len(iocclusion_gap(two, one, shared=True).per_run) == 0
    with pytest.raises(ValueError, match="expected scores of the same runs and images"):
        mean_iocclusion(Covered(right(1.0), right(0.9), [right(0.8, 100)], [right(0.7)]))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_swapping_the_sides_turns_the_gap_round(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, two = (
        Covered(
            *(random.integers(0, 2, (2, 40)) for _ in range(2)), *([random.integers(0, 2, (2, 40))] for _ in range(2))
        )
        for _ in range(2)
    )
    gap, back = (iocclusion_gap(*pair, shared=True, repeats=100) for pair in ((one, two), (two, one)))
    assert gap.value == pytest.approx(-back.value, nan_ok=True)
    assert (gap.low, gap.high) == pytest.approx((-back.high, -back.low), nan_ok=True)


def test_the_interval_of_a_gap_holds_the_truth_where_the_sign_of_a_covered_gap_is_not_clear() -> None:
    """Covered, the first has no gap at all and the second half of its clean one: iOcclusions of 0 and 0.5. The measured first one
    is above 0 whatever the truth, and so are its resamples."""
    random, covered = np.random.default_rng(5), []

    def answers(train: float, test: float, hidden: tuple[float, float]) -> Covered:
        seen, unseen, seen_hidden, unseen_hidden = (
            (random.random((1, 600)) < share).astype(float) for share in (train, test, *hidden)
        )
        return Covered(seen, unseen, [seen_hidden], [unseen_hidden])

    for _ in range(100):
        first, second = answers(0.99, 0.9, (0.6, 0.6)), answers(0.95, 0.75, (0.7, 0.6))
        gap = iocclusion_gap(first, second, shared=True, repeats=200)
        covered.append(gap.low <= -0.5 <= gap.high)
    assert np.mean(covered) >= 0.93


@pytest.mark.parametrize("shared", [True, False])
def test_few_images_widen_the_interval_of_the_bootstrap(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draws alone know nothing of how few there are: the interval is theirs, widened for the fewest of the four sets."""
    first, second = side(1.0, 0.5, [(0.75, 0.25)], 8), side(1.0, 0.5, [(0.5, 0.25)], 8, seed=9)
    found = iocclusion_gap(first, second, shared=shared)
    sides: list[int] = []

    def many(*units: np.ndarray) -> int:
        sides.append(len(units))
        return 10**6

    monkeypatch.setattr("snellen.measure.iocclusion_difference.fewest", many)
    plain = iocclusion_gap(first, second, shared=shared)
    assert sides
    assert found.low < plain.low < plain.high < found.high
