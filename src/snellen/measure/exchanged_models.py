"""Whether models differ at all under several judges: what equal models would give on the same images."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.bootstrap import sum_by_group
from snellen.measure.bootstrap_ranks import judge_sums
from snellen.measure.joint_bootstrap import Floats, ratio

REPEATS = 999
_MOST_GROUPS = 2000  # of more, some are exchanged together
_AT_ONCE = 4_000_000  # numbers that are exchanged together
_NEAR = 1e-12


def equal_models_p(
    correct: ArrayLike, judge: ArrayLike, groups: ArrayLike, repeats: int = REPEATS, seed: int = 0
) -> float:
    """p of how far models differ in accuracy, the mean over judges, where all are equal: scores `correct` [models, samples].

    Equal models may be exchanged image by image, or `groups` [samples] of them at a time, under all judges at once. Friedman's
    test throws the ranks of each judge by itself: a model that is by luck better on these images then has many judges agree,
    because its answers to one image go together whatever hides it. p is the share of `repeats` exchanges that differ as far, the
    data counted as one. Fewer than two models or groups give nan, and so does a model without an image of a judge.

    >>> import numpy as np
    >>> from snellen.measure import equal_models_p
    >>> scores = np.array([[1] * 40, [0] * 20 + [1] * 20])
    >>> equal_models_p(scores, judge=np.zeros(40), groups=np.arange(40)) < 0.05
    True
    """
    sums = judge_sums(correct, judge)
    by_group = sum_by_group(sums.columns, groups).reshape(-1, 2, sums.models, len(sums.judges))
    random = np.random.default_rng(seed)
    if len(by_group) > _MOST_GROUPS:
        member = random.permutation(len(by_group)) % _MOST_GROUPS
        by_group = sum_by_group(by_group.reshape(len(by_group), -1), member).reshape(-1, *by_group.shape[1:])
    own = _spread(by_group.sum(0)[None])[0]
    if sums.models < 2 or len(by_group) < 2 or np.isnan(own):
        return nan
    hits, block = 0, max(1, _AT_ONCE // by_group.size)
    for start in range(0, repeats, block):
        shape = (min(block, repeats - start), len(by_group), sums.models)
        order = random.permuted(np.broadcast_to(np.arange(sums.models), shape), axis=2)
        exchanged = np.take_along_axis(by_group[None], order[:, :, None, :, None], axis=3)
        hits += int(np.sum(_spread(exchanged.sum(1)) >= own - _NEAR))
    return (1 + hits) / (1 + repeats)


def _spread(sums: Floats) -> Floats:
    """The variance [m] over models of accuracy, the mean over judges, from sums [m, 2, models, judges] of scores and counts."""
    return np.asarray(ratio(sums[:, 0], sums[:, 1]).mean(2).var(1))
