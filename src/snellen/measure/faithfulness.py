"""Faithfulness: how much longer an answer survives when tiles are hidden by relevance than at random (Won et al. 2023, 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import bootstrap_interval
from snellen.measure.estimate import Estimate

_LEAST = 1e-6  # of a probability: less than this is nothing lost, but rounding


@dataclass(frozen=True)
class MeanCurve:
    """The mean over `n` samples at each step and its standard error, [steps] each; nan where nothing can be said."""

    value: NDArray[np.float64]
    se: NDArray[np.float64]
    n: int


@dataclass(frozen=True)
class InterModelAuc(Estimate):
    """The area between the curves of an order and of random orders, on the scale of 0 to 100.

    `se` is the standard error of the area over samples; `se_steps` that of the curve, averaged over its steps, as Won et al.
    (2023, tables 2 and 3) state it, though on the scale of 0 to 1. `curve` is the mean difference at each step, [steps].
    """

    se: float
    se_steps: float
    curve: NDArray[np.float64]


def normalised_curves(curves: ArrayLike, whole: ArrayLike, hidden: ArrayLike) -> NDArray[np.float64]:
    """Curves [..., steps] of probabilities as shares of what can be lost: (p − b) / (t − b) (Schulz et al. 2020).

    t is the mean over samples of the probability for `whole` images, b that for `hidden` ones; one pair for all samples of
    a model. nan where hiding everything costs nothing.

    >>> from snellen.measure import normalised_curves
    >>> normalised_curves([[0.9, 0.5, 0.1]], whole=[0.9], hidden=[0.1]).tolist()
    [[1.0, 0.5, 0.0]]
    """
    scores, top, floor = (np.asarray(values, np.float64) for values in (curves, whole, hidden))
    if not top.size or not top.mean() - floor.mean() > _LEAST:
        return np.full(scores.shape, nan)
    return (scores - floor.mean()) / (top.mean() - floor.mean())


def insertion_curves(deletion: ArrayLike) -> NDArray[np.float64]:
    """The curves [..., steps] of inserting tiles in the opposite order: the same images, shown from the last to the first.

    >>> from snellen.measure import insertion_curves
    >>> insertion_curves([[1.0, 0.4, 0.0]]).tolist()
    [[0.0, 0.4, 1.0]]
    """
    return np.asarray(deletion, np.float64)[..., ::-1]


def curve_areas(curves: ArrayLike) -> NDArray[np.float64]:
    """The area under each curve [..., steps] by trapezoids over a width of 1, on the scale of 0 to 100.

    >>> from snellen.measure import curve_areas
    >>> curve_areas([[1.0, 0.5, 0.0]]).tolist()
    [50.0]
    """
    values = np.asarray(curves, np.float64)
    if values.shape[-1] < 2:
        raise ValueError(f"expected curves of at least 2 steps, got {values.shape[-1]}")
    ends = (values[..., 0] + values[..., -1]) / 2
    return 100 * (values.sum(-1) - ends) / (values.shape[-1] - 1)


def mean_curve(curves: ArrayLike) -> MeanCurve:
    """The mean of curves [samples, steps] at each step.

    >>> from snellen.measure import mean_curve
    >>> mean_curve([[1.0, 0.5], [0.0, 0.5]]).value.tolist()
    [0.5, 0.5]
    """
    values = _as_curves(curves)
    count, steps = values.shape
    if not count:
        return MeanCurve(np.full(steps, nan), np.full(steps, nan), 0)
    spread = values.std(0, ddof=1) / sqrt(count) if count > 1 else np.full(steps, nan)
    return MeanCurve(values.mean(0), spread, count)


def inter_model_auc(ordered: ArrayLike, random: ArrayLike, groups: ArrayLike | None = None) -> InterModelAuc:
    """The area between the curves of an order and the mean of random orders (Won et al. 2023, tables 2 and 3), 0 to 100.

    `ordered` is [samples, steps], `random` [samples, repeats, steps] of the same samples, both already normalised
    (`normalised_curves`). Deletion takes the least relevant first, insertion the most relevant. The interval is a bootstrap
    over samples, or over `groups` of them.

    >>> from snellen.measure import inter_model_auc
    >>> random = [[[1, 0.5, 0], [1, 0.5, 0]]] * 2
    >>> inter_model_auc([[1, 0.9, 0]] * 2, random).value
    20.0
    """
    curves, others = _as_curves(ordered), np.asarray(random, np.float64)
    if others.ndim != 3 or others.shape[::2] != curves.shape or not others.shape[1]:
        raise ValueError(
            f"expected random curves [{len(curves)}, repeats, {curves.shape[1]}], got {list(others.shape)}"
        )
    difference = 100 * (curves - others.mean(1))
    mean, count = mean_curve(difference), len(curves)
    if not count:
        return InterModelAuc(nan, nan, nan, 0, nan, nan, mean.value)
    areas = curve_areas(difference / 100)
    columns = np.stack([areas, np.ones(count)], axis=1)
    interval = (nan, nan) if np.isnan(areas).any() else bootstrap_interval(columns, _ratio, groups)
    se = float(areas.std(ddof=1)) / sqrt(count) if count > 1 else nan
    return InterModelAuc(float(areas.mean()), *interval, count, se, float(mean.se.mean()), mean.value)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[:, 0] / sums[:, 1]


def _as_curves(curves: ArrayLike) -> NDArray[Any]:
    values = np.asarray(curves, np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"expected curves [samples, steps] of at least 2 steps, got an array of shape {list(values.shape)}"
        )
    return values
