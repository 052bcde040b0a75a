"""Ranks of models with their uncertainty: had other images been drawn, which models would change places?"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS
from snellen.measure.friedman_test import ranks_of
from snellen.measure.joint_bootstrap import Floats, intervals, ratio, resampled


@dataclass(frozen=True)
class Ranks:
    """Mean `ranks` over the judges [models], 1 the best, and their 95% intervals from `low` to `high`.

    `swap` [models, models] is the chance that two models change places: the share of resamples in which their order is the
    reverse of the one in the data. A resample in which they tie counts half. Two models that tie in the data have no order
    to lose and 0.5; the diagonal is 0.
    """

    ranks: Floats = field(compare=False)
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)
    swap: Floats = field(compare=False)


@dataclass(frozen=True)
class JudgeSums:
    """What each sample adds to the accuracy of each model by each judge: scores, then counts, [samples, 2 · models · judges]."""

    judges: tuple[Hashable, ...]
    models: int
    columns: Floats

    def accuracy(self, sums: Floats) -> Floats:
        """Accuracy [m, models, judges] of sums [m, q]; nan where a model has no image of a judge."""
        scores, counts = sums.reshape(len(sums), 2, self.models, len(self.judges)).transpose(1, 0, 2, 3)
        return ratio(scores, counts)


def rank_bootstrap(
    correct: ArrayLike,
    judge: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Ranks:
    """Ranks of models on resampled images: scores `correct` [models, samples] in 0 to 1, nan where a model was not asked.

    `judge` [samples] names what each image belongs to (its type of occlusion): models are ranked by the accuracy of each judge,
    and the ranks averaged. Without it there is one judge. `groups` [samples] are drawn whole: the video or the source of an
    image, so that images made from one photograph stay together across judges.
    """
    sums = judge_sums(correct, judge)

    def mean_ranks(values: Floats) -> Floats:
        tables = np.moveaxis(ranks_of(np.moveaxis(sums.accuracy(values), 1, 0)), 0, 1)
        known = ~np.isnan(tables).any(1, keepdims=True)
        return ratio(np.where(known, tables, 0).sum(2), known.sum(2))

    ranks = mean_ranks(sums.columns.sum(0, keepdims=True))[0]
    draws = resampled(sums.columns, mean_ranks, groups, repeats, seed)
    return Ranks(ranks, *intervals(draws), _swap(ranks, draws[~np.isnan(draws).any(1)]))


def judge_sums(correct: ArrayLike, judge: ArrayLike | None = None) -> JudgeSums:
    """The columns whose sums give the accuracy of every model by every judge; judges in order of their first image."""
    scores = np.asarray(correct, np.float64)
    if scores.ndim != 2 or (judge is not None and np.shape(judge) != scores.shape[1:]):
        shape = "none" if judge is None else list(np.shape(judge))
        raise ValueError(
            f"expected correct [models, samples] and judge [samples], got {list(scores.shape)} and {shape}"
        )
    names = [None] * scores.shape[1] if judge is None else np.asarray(judge).tolist()
    judges = tuple(dict.fromkeys(names))
    places = {name: place for place, name in enumerate(judges)}
    own = np.array([places[name] for name in names], int)[:, None] == np.arange(len(judges))
    counted = ~np.isnan(scores.T)[:, :, None] & own[:, None, :]
    columns = np.stack([np.where(counted, scores.T[:, :, None], 0), counted], axis=1)
    return JudgeSums(judges, len(scores), columns.reshape(len(names), 2 * len(scores) * len(judges)))


def _swap(ranks: Floats, draws: Floats) -> Floats:
    if not len(draws):
        swap = np.full((len(ranks), len(ranks)), nan)
    else:
        apart = _order(draws)
        # −1 where a resample turns the order of the data round, 0 where it ties, 1 where it keeps it.
        swap = (1 - (apart * _order(ranks[None])).mean(0)) / 2
    np.fill_diagonal(swap, 0)
    return swap


def _order(ranks: Floats) -> NDArray[np.float64]:
    """Which of two models is ahead, [m, models, models] of −1, 0 and 1; means of ranks are equal up to rounding."""
    apart = ranks[:, :, None] - ranks[:, None, :]
    return np.sign(np.where(np.abs(apart) < 1e-9, 0, apart))
