"""The interval of the index: it covers the truth and narrows as it should."""

import numpy as np
import pytest

from snellen.measure import interference


def pulled(random, runs, samples, pull):
    """Ten classes; 20 % errors on clean data, 50 % on distorted data of which `pull` fall on class 3."""
    labels = random.integers(0, 10, samples)

    def answer(error, pull):
        named = np.where(random.random((runs, samples)) < pull, 3, random.integers(0, 10, (runs, samples)))
        return np.where(random.random((runs, samples)) < error, named, labels)

    return answer(0.2, 0), answer(0.5, pull), labels, 10


def test_the_interval_covers_the_truth_where_one_class_dominates():
    random = np.random.default_rng(0)
    truth = interference(*pulled(random, 1, 2_000_000, 0.8), repeats=0).index
    found = [interference(*pulled(random, 3, 600, 0.8), repeats=300, seed=seed) for seed in range(200)]
    assert {each.dominant for each in found} == {3}
    assert 0.89 < np.mean([each.low <= truth <= each.high for each in found]) <= 0.99


def test_the_interval_holds_the_index_where_all_is_noise():
    # Nothing rises but by chance. Each resample adds chance to chance: its index is higher than the index it is of.
    random = np.random.default_rng(0)
    for seed in range(20):
        labels, clean, distorted = random.integers(0, 100, (3, 2000))
        found = interference(clean, distorted, labels, 100, repeats=200, seed=seed)
        assert 0 <= found.low <= found.index <= found.high


def test_the_interval_narrows_with_the_square_root_of_the_samples():
    random = np.random.default_rng(0)
    few, many = (interference(*pulled(random, 3, samples, 0.8)) for samples in (500, 8000))
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(4, rel=0.25)
