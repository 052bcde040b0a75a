"""The standard error of a mean: SciPy's, and that of clustered means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from snellen.measure import standard_error


def test_it_is_that_of_scipy_over_the_means_of_runs() -> None:
    scores = np.random.default_rng(0).random((3, 50))
    assert standard_error(scores[0]) == pytest.approx(stats.sem(scores[0]))
    assert standard_error(scores) == pytest.approx(stats.sem(scores.mean(0)))
    scores[0, 3] = scores[:, 4] = np.nan
    means = np.delete(np.nanmean(np.delete(scores, 4, 1), 0), [])
    assert standard_error(scores) == pytest.approx(stats.sem(means))


def test_groups_that_move_together_count_as_one() -> None:
    scores = np.random.default_rng(1).random(40)
    assert standard_error(np.repeat(scores, 5), np.repeat(np.arange(40), 5)) == pytest.approx(stats.sem(scores))
    assert standard_error(scores, np.arange(40)) == pytest.approx(stats.sem(scores))


@pytest.mark.parametrize("scores", [[], [0.5], [[np.nan, 0.5]]])
def test_nothing_that_varies_gives_nan(scores: list) -> None:
    assert np.isnan(standard_error(scores))
    assert np.isnan(standard_error([0.1, 0.2, 0.3], ["a", "a", "a"]))
