"""Calibration: whether a model is right as often as it is sure (Guo et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import percentiles, resampled_sums, sum_by_group, widen
from snellen.measure.estimate import Estimate, as_runs


@dataclass(frozen=True)
class CalibrationError(Estimate):
    """The expected calibration error, and the bins of the reliability diagram, [bins] each, over all runs together.

    `share` is the part of the answers in a bin; `confidence` and `accuracy` are their means there, nan where it is empty.
    """

    share: NDArray[np.float64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    per_run: NDArray[np.float64]


def calibration_error(
    confidence: ArrayLike, correct: ArrayLike, bins: int = 15, groups: ArrayLike | None = None
) -> CalibrationError:
    """The mean distance of accuracy from confidence over bins of equal width, weighted by their answers (ECE).

    `confidence` in [0, 1] and `correct` (0 or 1) are [samples] or [runs, samples]; a sample with nan does not count. Bin m
    holds confidences in ((m − 1) / bins, m / bins], the first also 0 (Guo et al. 2017, equation 3). Several runs give the
    mean of their errors. The interval is a bootstrap over samples, or over `groups`; since resampling adds to an error that
    is never negative, its middle is moved to the value.
    """
    if bins < 1:
        raise ValueError(f"expected at least one bin, got {bins}")
    sure, right = (as_runs(one).astype(np.float64) for one in (confidence, correct))
    if sure.shape != right.shape:
        raise ValueError(f"expected confidence and correct of the same shape, got {sure.shape} and {right.shape}")
    valid = ~(np.isnan(sure) | np.isnan(right)).any(0)
    sure, right = sure[:, valid], right[:, valid]
    for name, values in (("confidence", sure), ("correct", right)):
        outside = values[(values < 0) | (values > 1)]
        if outside.size:
            raise ValueError(f"expected {name} in [0, 1], got {outside[0]:g}")
    runs, count = sure.shape
    if not count:
        empty = np.full(bins, nan)
        return CalibrationError(nan, nan, nan, 0, np.zeros(bins), empty, empty, np.full(runs, nan))
    place = np.clip(np.ceil(sure * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = _gaps(place, right - sure, bins)

    def error(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """[m, runs] of sums [m, runs · bins + 1], of which the last is the number of samples."""
        return np.asarray(np.abs(sums[:, :-1]).reshape(len(sums), runs, bins).sum(2) / sums[:, -1:])

    per_run = error(gaps.sum(0, keepdims=True))[0]
    value = float(per_run.mean())
    units = gaps if groups is None else sum_by_group(gaps, np.asarray(groups)[valid])
    low = high = nan
    if len(units) > 1:
        draws = np.concatenate([error(sums).mean(1) for sums in resampled_sums(units)])
        middle = percentiles(draws - draws.mean() + value)
        low, high = (max(0.0, end) for end in widen(value, middle, len(units)))
    within = np.bincount(place.ravel(), minlength=bins)
    confidences, accuracies = (_mean_by_bin(place, one, within) for one in (sure, right))
    return CalibrationError(value, low, high, count, within / place.size, confidences, accuracies, per_run)


def _gaps(place: NDArray[np.int64], difference: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """What each sample adds, [samples, runs · bins + 1]: accuracy less confidence in its bin of each run, and one."""
    runs, count = place.shape
    columns = np.zeros((count, runs * bins + 1))
    columns[np.arange(count), place + bins * np.arange(runs)[:, None]] = difference
    columns[:, -1] = 1
    return columns


def _mean_by_bin(
    place: NDArray[np.int64], values: NDArray[np.float64], within: NDArray[np.int64]
) -> NDArray[np.float64]:
    sums = np.bincount(place.ravel(), values.ravel(), len(within))
    return np.divide(sums, within, out=np.full(len(within), nan), where=within > 0)
