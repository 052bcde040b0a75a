"""Kendall's τ between two rankings of the same models: is one set of images a proxy for another?"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import atanh, nan, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.bootstrap import REPEATS
from snellen.measure.bootstrap_ranks import clear_orders, judge_sums
from snellen.measure.estimate import Estimate
from snellen.measure.joint_bootstrap import Floats, ratio, resampled

_Z = 1.959963984540054  # the normal quantile of 97.5%
_BOTH = 2.241402727604947  # of 98.75%: the orders by two judges together are clear at 95%


@dataclass(frozen=True)
class KendallTau(Estimate):
    """`value` is τ-b, −1 to 1; `p` two-sided for "the rankings have nothing to do with each other"; `n` counts the models."""

    p: float


@dataclass(frozen=True)
class ProxyTau(KendallTau):
    """τ of one judge's accuracies with the reference's, over models.

    The interval from `low` to `high` is about other models, that from `images_low` to `images_high` about endless images for the
    same models. Noise in accuracies turns rankings apart, and resamples turn them apart once more. So it is no bootstrap of τ:
    pairs of models that are clearly ordered by both (`clear_orders`) count as they are, and all others as for or against.
    """

    images_low: float
    images_high: float


def kendall_tau(first: ArrayLike, second: ArrayLike) -> KendallTau:
    """τ-b of two accuracies per model, [models] each, with Fieller's 95% interval over models.

    tanh(atanh τ ± 1.96 √(0.437 / (n − 4))) (Fieller, Hartley & Pearson 1957). Where all pairs agree, or none, the end away from
    ±1 is taken as if half a pair did not. Models with a nan do not count; fewer than five have no interval; fewer than two, or
    no differences on one side, give nan.

    >>> from snellen.measure import kendall_tau
    >>> round(kendall_tau([0.9, 0.8, 0.7, 0.6], [0.5, 0.4, 0.2, 0.3]).value, 3)  # five of six pairs agree
    0.667
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"expected two accuracies per model, got {a.shape} and {b.shape}")
    counted = ~np.isnan(a + b)
    a, b = a[counted], b[counted]
    n = len(a)
    if n < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return KendallTau(nan, nan, nan, n, nan)
    from scipy.stats import kendalltau

    value = float(tau_b(np.stack([a, b], axis=1)[None], 0)[0, 1])
    return KendallTau(value, *_fieller(value, n), n, float(kendalltau(a, b).pvalue))


def proxy_taus(
    correct: ArrayLike,
    judge: ArrayLike,
    reference: Hashable,
    groups: ArrayLike | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[Hashable, ProxyTau]:
    """How well each judge ranks the models as the `reference` does: is synthetic occlusion a proxy for real occlusion?

    `correct` [models, samples] in 0 to 1 (nan where a model was not asked), `judge` [samples] names the type of each image and
    `groups` [samples] what is drawn whole, both as in `rank_bootstrap`. The reference itself is left out.

    >>> import numpy as np
    >>> from snellen.measure import proxy_taus
    >>> correct = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]])
    >>> proxy_taus(correct, judge=["real", "real", "drawn", "drawn"], reference="real")["drawn"].value
    1.0
    """
    sums = judge_sums(correct, judge)
    if reference not in sums.judges:
        names = ", ".join(str(name) for name in sums.judges)
        raise ValueError(f"expected reference to be one of the judges ({names}), got '{reference}'")
    place = sums.judges.index(reference)

    accuracy = sums.accuracy(sums.columns.sum(0, keepdims=True))[0]
    draws = resampled(sums.columns, sums.accuracy, groups, repeats, seed)
    low, high = _possible(clear_orders(sums, draws, groups, _BOTH), place)
    whole = {name: kendall_tau(accuracy[:, i], accuracy[:, place]) for i, name in enumerate(sums.judges)}
    return {
        name: ProxyTau(tau.value, tau.low, tau.high, tau.n, tau.p, float(low[i]), float(high[i]))
        for i, (name, tau) in enumerate(whole.items())
        if i != place
    }


def _possible(orders: Floats, place: int) -> tuple[Floats, Floats]:
    """The least and the most τ [judges] with the judge at `place` that clear orders [models, models, judges] leave."""
    upper = np.triu_indices(len(orders), 1)
    agree = orders[upper] * orders[upper][:, [place]]
    known = ~np.isnan(agree)
    pairs, sure, unclear = known.sum(0), np.nansum(agree, axis=0), (agree == 0).sum(0)
    return ratio(sure - unclear, pairs), ratio(sure + unclear, pairs)


def tau_b(accuracy: Floats, place: int) -> Floats:
    """τ-b [m, judges] of each judge with the one at `place`, of accuracy [m, models, judges]; a pair with nan does not count."""
    upper = np.triu_indices(accuracy.shape[1], 1)
    signs = np.nan_to_num(np.sign(accuracy[:, upper[0]] - accuracy[:, upper[1]]), nan=0.0)
    own = signs[:, :, [place]]
    pairs = np.sqrt(np.abs(signs).sum(1) * np.abs(own).sum(1))
    return np.divide((signs * own).sum(1), pairs, out=np.full(pairs.shape, nan), where=pairs > 0)


def _fieller(tau: float, n: int) -> tuple[float, float]:
    if n < 5:
        return nan, nan
    most = 1 - 2 / (n * (n - 1))
    centre, half = atanh(min(most, max(-most, tau))), _Z * sqrt(0.437 / (n - 4))
    low, high = tanh(centre - half), tanh(centre + half)
    return (-1.0 if tau <= -most else low), (1.0 if tau >= most else high)
