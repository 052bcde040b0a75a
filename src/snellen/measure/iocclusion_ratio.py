"""iOcclusion: how occlusion changes the gap between seen and unseen images (Marcu & Prügel-Bennett 2022, equation 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.averages import Floats, deviation, means, same_runs, samples_of
from snellen.measure.bootstrap import REPEATS, percentiles, resampled_sums, sum_by_group
from snellen.measure.estimate import Estimate
from snellen.measure.few_units import UnitSizes, fewest, widen

_Z = 1.959963984540054


@dataclass(frozen=True)
class IOcclusion(Estimate):
    """The gap under occlusion in units of the gap without: higher means that what was learnt survives being covered.

    `value` is the mean over runs of |gap occluded| / |gap|, `std` its sample deviation over runs (nan for one run),
    `signed` the mean without the absolute values. `numerator` and `denominator` are the mean absolute gaps, occluded and
    not. `gapless` counts the runs without any gap: a ratio by nothing is nan, and so is `value` then. `gap_low` and
    `gap_high` bound the mean signed gap (train less test, not occluded): where 0 is between them the ratio is of
    something that may not be there. `n` counts the test samples, 0 where only accuracies were given.
    """

    std: float
    signed: float
    numerator: float
    denominator: float
    gapless: int
    gap_low: float
    gap_high: float
    per_run: Floats = field(compare=False)


def iocclusion(
    train: ArrayLike,
    test: ArrayLike,
    train_occluded: ArrayLike,
    test_occluded: ArrayLike,
    groups: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
    *,
    repeats: int = REPEATS,
    seed: int = 0,
) -> IOcclusion:
    """|A(train occluded) − A(test occluded)| / |A(train) − A(test)|, per run, then the mean over runs.

    Each argument is an accuracy, one accuracy per run, or scores [runs, samples]; train accuracy is on the training
    images without augmentation. Shares or per cent: the ratio is the same. With scores everywhere the intervals are a
    bootstrap: train and test images are drawn apart, an image stays with its occluded self, and whole `groups` (labels
    of the train and of the test samples) are drawn where given. Its lower end is corrected for the bias of a ratio.
    Resamples without a gap count as infinite, so an interval may end there (inf). Absolute gaps cannot fall below 0, whatever
    the truth: runs whose gap under occlusion has no clear sign count as 0 for the lower end, and all do where their mean has
    none.

    >>> from snellen.measure import iocclusion
    >>> round(iocclusion(train=0.95, test=0.85, train_occluded=0.6, test_occluded=0.55).value, 6)
    0.5
    """
    seen, unseen = means(train), means(test)
    seen_occluded, unseen_occluded = means(train_occluded), means(test_occluded)
    same_runs(train=seen, test=unseen, train_occluded=seen_occluded, test_occluded=unseen_occluded)
    gap, occluded = seen - unseen, seen_occluded - unseen_occluded
    gapless = np.isclose(gap, 0, rtol=0, atol=1e-12)
    ratio = np.divide(occluded, gap, out=np.full(len(gap), nan), where=~gapless)
    low, high, gap_low, gap_high = _intervals((train, train_occluded), (test, test_occluded), groups, repeats, seed)
    if gapless.any():
        low = high = nan
    return IOcclusion(
        value=float(np.abs(ratio).mean()),
        low=low,
        high=high,
        n=samples_of(test),
        std=deviation(np.abs(ratio)),
        signed=float(ratio.mean()),
        numerator=float(np.abs(occluded).mean()),
        denominator=float(np.abs(gap).mean()),
        gapless=int(gapless.sum()),
        gap_low=gap_low,
        gap_high=gap_high,
        per_run=np.abs(ratio),
    )


def _intervals(
    train: tuple[ArrayLike, ArrayLike],
    test: tuple[ArrayLike, ArrayLike],
    groups: tuple[ArrayLike | None, ArrayLike | None],
    repeats: int,
    seed: int,
) -> tuple[float, float, float, float]:
    """The bounds of the ratio and of the mean gap; nan where there are no two samples or groups to draw from."""
    if not repeats or not all(samples_of(scores) for scores in (*train, *test)):
        return nan, nan, nan, nan
    seen, unseen = (_columns(*scores, group) for scores, group in zip((train, test), groups))
    if min(len(seen), len(unseen)) < 2:
        return nan, nan, nan, nan
    # Train images are drawn apart from test images.
    drawn = zip(resampled_sums(seen, repeats, seed + 1), resampled_sums(unseen, repeats, seed))
    gap, occluded = (np.concatenate(part) for part in zip(*(_gaps(*sums) for sums in drawn)))  # [resamples, runs] each
    whole, whole_occluded = _gaps(seen.sum(axis=0, keepdims=True), unseen.sum(axis=0, keepdims=True))
    units = fewest(seen[:, 0].astype(np.int64), unseen[:, 0].astype(np.int64))
    clear = clear_of_zero(occluded) & clear_of_zero(occluded.mean(axis=1, keepdims=True))
    _, high = ratio_bounds(float(_ratio(whole, whole_occluded)[0]), _ratio(gap, occluded), units)
    low, _ = ratio_bounds(float(_ratio(whole, whole_occluded * clear)[0]), _ratio(gap, occluded * clear), units)
    gaps = widen(float(whole.mean()), percentiles(gap.mean(axis=1)), units)
    return (max(0.0, low) if low == low else nan), high, *gaps


def _gaps(seen: Floats, unseen: Floats) -> tuple[Floats, Floats]:
    """Train less test accuracy of sums [m, 1 + 2 · runs], clean and occluded: [m, runs] each."""
    difference = seen[:, 1:] / seen[:, :1] - unseen[:, 1:] / unseen[:, :1]
    clean, occluded = np.split(difference, 2, axis=1)
    return clean, occluded


def _ratio(gap: Floats, occluded: Floats) -> Floats:
    """The mean over runs, [m], infinite where there is no gap."""
    size = np.abs(gap)
    return np.divide(np.abs(occluded), size, out=np.full(size.shape, inf), where=size > 1e-12).mean(axis=1)


def _columns(clean: ArrayLike, occluded: ArrayLike, groups: ArrayLike | None) -> Floats:
    """What each sample or group adds, [units, 1 + 2 · runs]: itself, then its scores clean and occluded."""
    first, second = np.asarray(clean, np.float64), np.asarray(occluded, np.float64)
    if first.shape != second.shape:
        raise ValueError(f"expected occluded scores of the same images, got {first.shape} and {second.shape}")
    columns = np.concatenate([np.ones((1, first.shape[1])), first, second]).T
    return columns if groups is None else sum_by_group(columns, groups)


def ratio_bounds(value: float, draws: NDArray[np.float64], units: UnitSizes) -> tuple[float, float]:
    """The middle 95% of `draws` around `value`, widened for few `units` (`few_units.widen`).

    Where more than half of the resamples lie above the value, the value itself is likely to lie above the truth: the lower
    bound moves down as by the bias-corrected bootstrap (Efron 1981). The upper bound never does, as an absolute value that is
    near 0 lies above the truth without resamples that tell. Both are draws themselves: between a number and infinity there is
    nothing to interpolate. A draw that is nan says nothing and counts at both ends.
    """
    if not len(draws) or not np.isfinite(value):
        return nan, nan
    from scipy.special import ndtr, ndtri

    known = draws[~np.isnan(draws)]
    last = len(draws) - 1
    below = (np.sum(known < value) + np.sum(known == value) / 2 + 0.5) / (len(known) + 1)
    shift = min(0.0, float(ndtri(below)))
    least, most = (np.sort(np.where(np.isnan(draws), end, draws)) for end in (-np.inf, np.inf))
    low = least[int(np.floor(ndtr(2 * shift - _Z) * last))]
    high = most[int(np.ceil(0.975 * last))]
    return widen(value, (float(low), float(high)), units)


def clear_of_zero(draws: NDArray[np.float64], tests: int = 1) -> NDArray[np.bool_]:
    """Whether the middle 95% of draws [resamples, …] lies on one side of 0; of several `tests` by Bonferroni's rule."""
    least, most = np.quantile(draws, (0.025 / tests, 1 - 0.025 / tests), axis=0)
    return np.asarray((least > 0) | (most < 0))
