"""Friedman's test: whether judges rank models alike (Friedman 1937; Kassaw et al. 2024, 3.3 and appendix D).

A judge is a way to rank the models, a type of occlusion say. Random rankings are the null: a large Q says that the judges agree.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from math import factorial, nan
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
FriedmanMethod = Literal["auto", "chi2", "permutation"]

FEW_JUDGES = 6  # below it χ² is too strict whatever the number of models: of 5% promised 0 to 3.6% are rejected
_MOST_ORDERS = 20_000  # up to so many equally likely outcomes all of them are counted
_PERMUTATIONS = 9_999
_NEAR = 1e-9  # two Q that differ by rounding only are the same


@dataclass(frozen=True)
class Friedman:
    """Friedman's `q`, its `p` and Kendall's `w` (0 no agreement, 1 all judges rank alike).

    `ranks` [models, judges] is the rank table, 1 the most accurate model, ties with their average rank; `mean_ranks` [models]
    is its mean over judges. `method` says where `p` comes from: `chi2` (models − 1 degrees of freedom), `exact` (all orders of
    each judge) or `permutation` (9,999 random ones). It is `none` where nothing can be tested.
    """

    q: float
    p: float
    w: float
    ranks: Floats = field(compare=False)
    mean_ranks: Floats = field(compare=False)
    method: Literal["chi2", "exact", "permutation", "none"]


def friedman(accuracy: ArrayLike, method: FriedmanMethod = "auto", seed: int = 0) -> Friedman:
    """Whether the judges of accuracy [models, judges] rank the models alike, with the correction for ties.

    Without ties Q = 12 n / (k (k + 1)) · Σ (mean rank − (k + 1) / 2)² for k models and n judges, and W = Q / (n (k − 1)).
    The appendix of the paper swaps n and k; this is the formula of Friedman and of the paper's main text.

    `auto` takes χ² for more than 4 models or more than 15 judges, the published condition, if there are 6 judges at least;
    else permutations. A judge with a nan ranks not all models and does not count. Fewer than two models or judges, or judges
    that hold all models for equal, give nan.

    >>> from snellen.measure import friedman
    >>> found = friedman([[0.9, 0.8, 0.9], [0.7, 0.7, 0.6], [0.5, 0.6, 0.4]])
    >>> found.mean_ranks.tolist(), found.w
    ([1.0, 2.0, 3.0], 1.0)
    """
    scores = np.asarray(accuracy, np.float64)
    if scores.ndim != 2:
        raise ValueError(f"expected accuracy [models, judges], got an array of shape {list(scores.shape)}")
    if method not in ("auto", "chi2", "permutation"):
        raise ValueError(f"expected method auto, chi2 or permutation, got '{method}'")
    table = ranks_of(scores[:, ~np.isnan(scores).any(0)])
    models, judges = table.shape
    mean = table.mean(1) if judges else np.full(models, nan)
    spread = np.square(table - (models + 1) / 2).sum()
    if models < 2 or judges < 2 or not spread:
        return Friedman(nan, nan, nan, table, mean, "none")
    scale = judges * (models - 1) / spread  # brings ties in: without them judges · 12 / (models (models + 1))
    q = _distance(table.sum(1)[None], judges)[0] * scale
    w = q / (judges * (models - 1))
    if method == "chi2" or (method == "auto" and chi2_holds(models, judges)):
        from scipy.special import chdtrc

        return Friedman(float(q), float(chdtrc(models - 1, q)), float(w), table, mean, "chi2")
    p, source = _permuted(table, float(q), float(scale), seed)
    return Friedman(float(q), p, float(w), table, mean, source)


def chi2_holds(models: int, judges: int) -> bool:
    """Whether Q of so many models and judges is near enough to χ²: see `friedman`."""
    return judges >= FEW_JUDGES and (models > 4 or judges > 15)


def ranks_of(accuracy: Floats) -> Floats:
    """Ranks [models, …] down the first axis, 1 the most accurate, ties with their average rank; nan has and takes none."""
    from scipy.stats import rankdata

    if not accuracy.size:
        return np.zeros(accuracy.shape)
    return np.asarray(rankdata(-accuracy, axis=0, nan_policy="omit"), np.float64)


def _distance(sums: Floats, judges: int) -> Floats:
    """Σ (rank sum − its mean)² / judges over the models of rank sums [m, models]."""
    middle = judges * (sums.shape[1] + 1) / 2
    return np.asarray(np.square(sums - middle).sum(1) / judges)


def _permuted(table: Floats, q: float, scale: float, seed: int) -> tuple[float, Literal["exact", "permutation"]]:
    """How likely a Q at least as large is where every order of a judge's ranks is equally likely."""
    models, judges = table.shape
    if models <= 8 and factorial(models) ** (judges - 1) <= _MOST_ORDERS:
        sums = table[:, 0][None]  # Q does not change when all judges rename the models alike, so one order may stay
        for ranks in table.T[1:]:
            orders = np.array(list(itertools.permutations(ranks)))
            sums = (sums[:, None] + orders).reshape(-1, models)
        return float(np.mean(_distance(sums, judges) * scale >= q - _NEAR)), "exact"
    random = np.random.default_rng(seed)
    hits = 0
    for start in range(0, _PERMUTATIONS, 1000):
        many = min(1000, _PERMUTATIONS - start)
        orders = random.permuted(np.broadcast_to(table.T, (many, judges, models)), axis=2)
        hits += int(np.sum(_distance(orders.sum(1), judges) * scale >= q - _NEAR))
    return (1 + hits) / (1 + _PERMUTATIONS), "permutation"
