"""The mean corruption error by hand, and beside what is published of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from snellen.measure import corruption_error

CLEAN = [1, 1, 1, 0]
FOG = [[1, 1, 0, 0], [1, 0, 0, 0]]  # errors 1/2 and 3/4
SNOW = [[1, 1, 1, 0], [0, 0, 0, 0]]  # errors 1/4 and 1


def test_without_a_reference_it_is_the_mean_of_errors() -> None:
    found = corruption_error(CLEAN, {"fog": FOG, "snow": SNOW})
    assert (found.value, found.n) == (pytest.approx(0.625), 4)
    assert found.by_kind["fog"].value == pytest.approx(0.625)
    assert found.by_kind["snow"].value == pytest.approx(0.625)
    assert found.relative.value == pytest.approx(0.625 - 0.25)
    assert found.low < found.value < found.high


def test_with_a_reference_it_is_the_mean_of_ratios_of_sums_over_severities() -> None:
    """Hendrycks & Dietterich 2019: CE = Σ E / Σ E of AlexNet, the relative one after taking both clean errors away."""
    found = corruption_error(CLEAN, {"fog": FOG, "snow": SNOW}, {"fog": 0.5, "snow": 0.8}, 0.3)
    assert found.by_kind["fog"].value == pytest.approx((0.5 + 0.75) / (2 * 0.5))
    assert found.by_kind["snow"].value == pytest.approx((0.25 + 1) / (2 * 0.8))
    assert found.value == pytest.approx((1.25 + 0.78125) / 2)
    assert found.relative.value == pytest.approx(((0.625 - 0.25) / 0.2 + (0.625 - 0.25) / 0.5) / 2)


def test_the_reference_itself_has_an_error_of_one() -> None:
    rng = np.random.default_rng(0)
    some = {kind: [rng.random(500) < 1 - share for _ in range(5)] for kind, share in (("a", 0.2), ("b", 0.7))}
    clean = rng.random(500) < 0.9
    own = {kind: float(1 - np.mean(each)) for kind, each in some.items()}
    found = corruption_error(clean, some, own, float(1 - clean.mean()))
    assert found.value == pytest.approx(1)
    assert found.relative.value == pytest.approx(1)


def test_runs_are_averaged_and_a_kind_with_more_severities_counts_no_more() -> None:
    one = corruption_error([CLEAN, CLEAN], {"fog": [[FOG[0], FOG[1]]]})
    assert one.value == pytest.approx(0.625)
    uneven = corruption_error(CLEAN, {"fog": FOG, "snow": [SNOW[0]]})
    assert uneven.value == pytest.approx((0.625 + 0.25) / 2)


def test_intervals_cover_the_true_error() -> None:
    """Images differ in how hard they are, so that the severities of one image go together."""
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(300):
        easy = rng.beta(2, 2, 150)
        runs = {kind: [rng.random(150) < easy * share for share in (0.9, 0.6, 0.3)] for kind in "abcd"}
        found = corruption_error(rng.random(150) < easy, runs, {"a": 0.5, "b": 0.6, "c": 0.7, "d": 0.8})
        true = np.mean([1 / share for share in (0.5, 0.6, 0.7, 0.8)]) * (1 - 0.5 * 0.6)
        inside += found.low <= true <= found.high
    assert inside / 300 >= 0.92


def test_whole_groups_vary_together() -> None:
    scores = np.repeat([0, 1, 1, 0, 1, 0, 1, 1], 20)
    apart = corruption_error(scores, {"fog": [scores]})
    together = corruption_error(scores, {"fog": [scores]}, groups=np.repeat(np.arange(8), 20))
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_no_images_give_nan_and_no_kinds_are_refused() -> None:
    nothing = corruption_error([], {"fog": [[]]})
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.relative.value)
    with pytest.raises(ValueError, match="at least one kind"):
        corruption_error(CLEAN, {})


def test_a_reference_that_loses_nothing_has_no_relative_error() -> None:
    found = corruption_error(CLEAN, {"fog": FOG}, {"fog": 0.3}, 0.3)
    assert math.isnan(found.relative.value)
    assert found.value == pytest.approx(0.625 / 0.3)
