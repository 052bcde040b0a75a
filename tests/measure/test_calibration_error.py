"""Calibration error: counted by hand, equal to torchmetrics', and bounded as it must be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.measure import calibration_error


def test_two_bins_by_hand() -> None:
    # (0, 0.5]: confidence 0.35, right 1 of 2; (0.5, 1]: confidence 0.85, right 1 of 2
    measured = calibration_error([0.3, 0.4, 0.8, 0.9], [1, 0, 1, 0], bins=2)
    assert measured.plug_in == pytest.approx(0.5 * abs(0.5 - 0.35) + 0.5 * abs(0.5 - 0.85))
    assert measured.share.tolist() == [0.5, 0.5]
    assert measured.confidence.tolist() == pytest.approx([0.35, 0.85])
    assert measured.accuracy.tolist() == [0.5, 0.5]
    assert measured.low <= measured.value <= measured.high


def test_a_bin_holds_its_upper_edge() -> None:
    assert calibration_error([0, 0.5, 1], [0, 1, 1], bins=2).share.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_several_runs_give_the_mean_of_their_errors() -> None:
    measured = calibration_error([[0.9, 0.9], [0.6, 0.6]], [[1, 1], [1, 1]])
    assert measured.per_run.tolist() == pytest.approx([0.1, 0.4])
    assert measured.value == pytest.approx(0.25)  # both answers are alike: no noise is seen
    assert measured.plug_in == pytest.approx(0.25)
    assert measured.n == 2


def test_nothing_to_count_is_nan() -> None:
    for measured in (calibration_error([], []), calibration_error([math.nan], [1])):
        assert math.isnan(measured.value)
        assert math.isnan(measured.low)
        assert measured.n == 0


def test_what_is_no_confidence_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence in"):
        calibration_error([1.2], [1])
    with pytest.raises(ValueError, match="same shape"):
        calibration_error([0.5, 0.5], [1])
    with pytest.raises(ValueError, match="at least one bin"):
        calibration_error([0.5], [1], bins=0)


def test_the_value_is_without_what_noise_adds() -> None:
    """By a bootstrap of its own: resamples have the noise twice, so that they lie above the plug-in as that above the truth."""
    random = np.random.default_rng(3)
    sure = random.uniform(0, 1, 300)
    right = (random.random(300) < np.clip(sure - 0.1, 0, 1)).astype(float)
    measured = calibration_error(sure, right, bins=10)
    draws = [random.integers(300, size=300) for _ in range(500)]
    errors = [
        sum(abs((right[rows] - sure[rows])[np.ceil(sure[rows] * 10) == one].sum()) for one in range(1, 11)) / 300
        for rows in draws
    ]
    added = np.mean(errors) - measured.plug_in
    assert added > 0.005
    assert measured.value == pytest.approx(measured.plug_in - added, abs=added)
    assert measured.value < measured.plug_in
    assert measured.low < measured.value < measured.high


@pytest.mark.parametrize(
    ("count", "runs", "gap", "bad_bin", "groups"),
    [(450, 2, 0.0, 0, 0), (450, 2, 0.03, 0, 0), (1000, 5, 0.02, 0, 0), (450, 2, 0.03, 1, 0), (450, 2, 0.03, 0, 30)],
)
def test_the_interval_holds_the_truth_where_the_plug_in_is_far_above(
    count: int, runs: int, gap: float, bad_bin: int, groups: int
) -> None:
    """Around the plug-in value, bootstrap intervals held the truth in 0%, 54% and 13% of the first three cases."""
    random, held, values = np.random.default_rng(count), 0, []
    for _ in range(50):
        sure = random.uniform(0.4, 1, (runs, count))
        off = np.where(sure > 14 / 15, 9 * gap, 0) if bad_bin else gap
        clip = random.integers(groups, size=count) if groups else np.arange(count)
        luck = np.where(
            random.random(sure.shape) < 0.5, random.random((runs, count))[:, clip], random.random(sure.shape)
        )
        measured = calibration_error(sure, luck < sure - off, groups=clip if groups else None)
        held += measured.low <= gap <= measured.high
        values.append((measured.value, measured.plug_in))
    assert held / 50 > 0.93 - 2 * 0.036
    value, plug_in = np.mean(values, axis=0)
    assert abs(value - gap) < 0.7 * (plug_in - gap)


def test_answers_that_are_all_right_leave_open_what_so_few_cannot_tell() -> None:
    """8 of 8 right and 99% sure: the accuracy may be .68 by Wilson's interval, so the error may be some .3."""
    measured = calibration_error(np.full(8, 0.99), np.ones(8))
    assert measured.plug_in == pytest.approx(0.01)
    assert measured.low == 0
    assert 0.25 < measured.high < 0.4
    many = calibration_error(np.full(800, 0.99), np.ones(800))
    assert many.high < 0.02
    one_group = calibration_error(np.full(8, 0.99), np.ones(8), groups=np.zeros(8))
    assert one_group.value == one_group.plug_in
    assert math.isnan(one_group.high)


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_it_equals_that_of_torchmetrics(bins: int) -> None:
    torch = pytest.importorskip("torch")
    classification = pytest.importorskip("torchmetrics.functional.classification")
    random = np.random.default_rng(7)
    logits = random.normal(0, 2, (400, 5))
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = random.integers(0, 5, 400)
    expected = classification.multiclass_calibration_error(
        torch.tensor(probabilities), torch.tensor(labels), num_classes=5, n_bins=bins, norm="l1"
    )
    measured = calibration_error(probabilities.max(1), probabilities.argmax(1) == labels, bins)
    assert measured.plug_in == pytest.approx(float(expected), abs=1e-6)


def test_a_model_that_knows_how_often_it_is_right_has_almost_no_error() -> None:
    random = np.random.default_rng(0)
    confidence = random.uniform(0, 1, 20_000)
    honest = calibration_error(confidence, random.uniform(0, 1, 20_000) < confidence)
    assert honest.value < 0.75 * honest.plug_in
    assert honest.plug_in < 0.015
    assert honest.low == 0
    boastful = calibration_error(np.full(1000, 0.99), np.arange(1000) % 2)
    assert boastful.value == pytest.approx(0.49)
    assert boastful.low < 0.49 < boastful.high


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40), st.integers(1, 20))
def test_it_lies_between_the_mean_gap_and_one_and_ignores_order(rows: list[tuple[float, bool]], bins: int) -> None:
    sure, right = np.array([one[0] for one in rows]), np.array([one[1] for one in rows], float)
    measured = calibration_error(sure, right, bins)
    assert abs(sure.mean() - right.mean()) - 1e-9 <= measured.plug_in <= 1
    assert 0 <= measured.value <= 1
    backwards = calibration_error(sure[::-1], right[::-1], bins)
    assert (backwards.plug_in, backwards.value) == pytest.approx((measured.plug_in, measured.value), abs=1e-6)
    assert calibration_error(sure, right, 1).plug_in == pytest.approx(abs(sure.mean() - right.mean()))
    if len(rows) > 1:
        assert 0 <= measured.low <= measured.value <= measured.high <= 1
