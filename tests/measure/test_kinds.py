"""Samples by kind: the same rows however they are counted, and resamples with the law of single draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from snellen.measure import paired_difference
from snellen.measure.bootstrap import resampled_sums
from snellen.measure.kinds import Kinds, count_kinds


@given(
    arrays.arrays(float, st.tuples(st.integers(1, 60), st.integers(1, 4)), elements=st.integers(-3, 3)),
    st.sampled_from([1.0, 0.2, 1e6]),
)
def test_kinds_are_the_different_rows_with_their_counts(rows, scale):
    """Whole numbers (counted by code), others and a wide range (by projection), dense and sparse."""
    rows = rows * scale
    expected, counts = np.unique(rows, axis=0, return_counts=True)
    for columns in (rows, sparse.csc_array(np.abs(rows))):
        if columns is not rows:
            expected, counts = np.unique(np.abs(rows), axis=0, return_counts=True)
        kinds = count_kinds(columns)
        dense = kinds.rows if isinstance(kinds.rows, np.ndarray) else kinds.rows.toarray()
        order = np.lexsort(dense.T[::-1])
        np.testing.assert_allclose(dense[order], expected)
        np.testing.assert_array_equal(kinds.counts[order], counts)
        assert kinds.samples == len(rows)


def test_the_order_of_the_samples_changes_nothing():
    random = np.random.default_rng(0)
    rows = np.stack([random.integers(0, 2, 1000), np.ones(1000), random.integers(0, 2, 1000)], axis=1).astype(float)
    first, second = (np.concatenate(list(resampled_sums(one, 60, 4))) for one in (rows, random.permutation(rows)))
    np.testing.assert_array_equal(first, second)


def test_draws_have_the_law_of_single_samples():
    """Of 60 right, 30 half right and 110 wrong samples: the covariance of the sums is n times that of a sample."""
    rows = np.repeat([[1.0, 1, 0], [0.5, 1, 1], [0, 1, 0]], [60, 30, 110], axis=0)
    kinds = count_kinds(rows)
    sums = kinds.draw(np.random.default_rng(1), 20_000)
    assert (sums[:, 1] == 200).all()
    np.testing.assert_allclose(sums.mean(0), rows.sum(0), rtol=0.005)
    np.testing.assert_allclose(np.cov(sums.T), 200 * np.cov(rows.T, bias=True), atol=0.04 * 200 * rows[:, 0].var())


def test_counted_samples_need_not_be_written_out():
    kinds = Kinds(np.array([[1.0, 1], [0, 1]]), np.array([700, 300]))
    written = np.repeat(kinds.rows, kinds.counts, axis=0)
    np.testing.assert_array_equal(
        np.concatenate(list(resampled_sums(kinds, 120, 5))), np.concatenate(list(resampled_sums(written, 120, 5)))
    )


def test_a_difference_by_kind_has_the_interval_of_single_draws():
    """5,000 pairs: drawn by kind, and by weights once a hair tells every pair apart."""
    random = np.random.default_rng(2)
    a, b = random.random(5000) < 0.8, random.random(5000) < 0.7
    hair = random.random(5000) * 1e-9
    by_kind, by_weight = paired_difference(a, b), paired_difference(a + hair, b)
    width = by_kind.high - by_kind.low
    assert (by_kind.low, by_kind.high) == pytest.approx((by_weight.low, by_weight.high), abs=0.08 * width)
