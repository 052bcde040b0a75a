"""Ranks of models with their uncertainty: had other images been drawn, which models would change places?"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS
from snellen.measure.few_units import effective_number, few_factor, sizes_of
from snellen.measure.friedman_test import ranks_of
from snellen.measure.joint_bootstrap import Floats, ratio, resampled

_Z = 1.959963984540054  # the normal quantile of 97.5%


@dataclass(frozen=True)
class Ranks:
    """Mean `ranks` over the judges [models], 1 the best, and their 95% intervals from `low` to `high`.

    Noise moves close models towards the middle, in the data as in resamples, which therefore do not tell how far. So `low` counts
    the models that are clearly ahead of a model, and `high` all that are not clearly behind it (`clear_orders`), by each judge.
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

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which samples some model was asked for each judge, [samples, judges]."""
        counts = self.columns.reshape(-1, 2, self.models, len(self.judges))[:, 1]
        return np.asarray(counts.any(axis=1))

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

    >>> import numpy as np
    >>> from snellen.measure import rank_bootstrap
    >>> scores = np.array([[1] * 50, [1, 0] * 25, [0] * 50])
    >>> rank_bootstrap(scores).ranks.tolist()
    [1.0, 2.0, 3.0]
    """
    sums = judge_sums(correct, judge)

    ranks = _mean_ranks(sums.accuracy(sums.columns.sum(0, keepdims=True)))[0]
    draws = resampled(sums.columns, sums.accuracy, groups, repeats, seed)
    drawn = _mean_ranks(draws)
    orders = clear_orders(sums, draws, groups, _Z)
    return Ranks(ranks, *_bounds(orders, sums), _swap(ranks, drawn[~np.isnan(drawn).any(1)]))


def clear_orders(sums: JudgeSums, draws: Floats, groups: ArrayLike | None, quantile: float) -> Floats:
    """Which of two models is clearly ahead by each judge, [models, models, judges]: 1 the first, −1 the second, 0 not clear.

    Clear is a difference in accuracy of more than `quantile` standard errors, found from draws [repeats, models, judges] of
    resampled images and widened for few of them, or few `groups`. An error is never below that of two more images on which they
    differ the other way (Agresti & Coull 1998): few images that are all alike show none. A single one orders nothing.
    """
    accuracy = sums.accuracy(sums.columns.sum(0, keepdims=True))[0]
    apart = accuracy[:, None] - accuracy[None]
    if not len(draws):
        return np.full(apart.shape, nan)
    units = [sizes_of(None if groups is None else np.asarray(groups)[own], int(own.sum())) for own in sums.present.T]
    images = np.array([effective_number(own) for own in units])
    share = 2 / (images + 4)
    least = np.sqrt(share * (1 - share) / (images + 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all nan is an answer here
        error = np.stack([np.nanstd(draws - draws[:, [model]], axis=0) for model in range(sums.models)])
    reach = quantile * np.array([few_factor(own) for own in units]) * np.maximum(error, least)
    return np.where(np.isnan(apart), nan, np.sign(apart) * (np.abs(apart) > reach))


def _bounds(orders: Floats, sums: JudgeSums) -> tuple[Floats, Floats]:
    """The best and the worst mean rank of each model that clear orders leave; judges that lack a model do not count."""
    known = ~np.isnan(orders).any((0, 1))
    if not known.any():
        return np.full(sums.models, nan), np.full(sums.models, nan)
    orders = orders[..., known]
    low, high = 1 + (orders < 0).sum(1), sums.models - (orders > 0).sum(1)
    return low.mean(1), high.mean(1)


def _mean_ranks(accuracy: Floats) -> Floats:
    """The mean rank over judges, [m, models], of accuracy [m, models, judges]; judges that lack a model do not count."""
    tables = np.moveaxis(ranks_of(np.moveaxis(accuracy, 1, 0)), 0, 1)
    known = ~np.isnan(tables).any(1, keepdims=True)
    return ratio(np.where(known, tables, 0).sum(2), known.sum(2))


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
