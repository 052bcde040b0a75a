"""Calibration: whether a model is right as often as it is sure (Guo et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.binned_gaps import debiased_sum, interval_of_sum
from snellen.measure.bootstrap import REPEATS, resampled_sums, sum_by_group
from snellen.measure.estimate import Estimate, as_runs
from snellen.measure.few_units import few_factor, sizes_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CalibrationError(Estimate):
    """The expected calibration error, and the bins of the reliability diagram, [bins] each, over all runs together.

    `value` is corrected for what noise adds, `plug_in` is not: it is the number by the formula of Guo et al. 2017, to be held
    against published ones. `per_run` are the corrected errors of single runs, none below 0, so that their mean may be above
    `value`. `share` is the part of the answers in a bin; `confidence` and `accuracy` are their means there, nan where it is
    empty.
    """

    plug_in: float
    share: Floats
    confidence: Floats
    accuracy: Floats
    per_run: Floats


def calibration_error(
    confidence: ArrayLike, correct: ArrayLike, bins: int = 15, groups: ArrayLike | None = None
) -> CalibrationError:
    """The mean distance of accuracy from confidence over bins of equal width, weighted by their answers (ECE).

    `confidence` in [0, 1] and `correct` (0 or 1) are [samples] or [runs, samples]; a sample with nan does not count. Bin m
    holds confidences in ((m − 1) / bins, m / bins], the first also 0 (Guo et al. 2017, equation 3). Several runs give the
    mean of their errors. Noise adds to an error that is never negative: `value` and interval are without that part, found by
    inverting a test (`binned_gaps`) with the noise of a bootstrap over samples, or over `groups`. A single sample or group
    shows no noise: `value` is the plug-in one there, without interval.

    >>> import numpy as np
    >>> from snellen.measure import calibration_error
    >>> confidence = np.full(100, 0.9)
    >>> found = calibration_error(confidence, [1] * 60 + [0] * 40)
    >>> round(found.plug_in, 6)  # 90 % sure, right on 60 %
    0.3
    """
    if bins < 1:
        raise ValueError(f"expected at least one bin, got {bins}")
    sure, right = (as_runs(values).astype(np.float64) for values in (confidence, correct))
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
        return CalibrationError(nan, nan, nan, 0, nan, np.zeros(bins), empty, empty, np.full(runs, nan))
    place = np.clip(np.ceil(sure * bins).astype(np.int64) - 1, 0, bins - 1)
    binned = _Binned(place, right, right - sure, bins, None if groups is None else np.asarray(groups)[valid])
    within = np.bincount(place.ravel(), minlength=bins)
    confidences, accuracies = (_mean_by_bin(place, values, within) for values in (sure, right))
    value, low, high, per_run = _without_noise(binned, runs)
    if right.min() == right.max() and right[0, 0] in (0, 1):
        high = max(high, _farthest(sure, accuracy(right, None if groups is None else np.asarray(groups)[valid])))
    plug_in = float(np.abs(binned.gaps).sum() / runs)
    return CalibrationError(value, low, high, count, plug_in, within / place.size, confidences, accuracies, per_run)


class _Binned:
    """Answers by run and bin, k = runs · bins: the `gaps` [k], and what each unit, a sample or a group, adds to them."""

    def __init__(
        self, place: NDArray[np.int64], right: Floats, difference: Floats, bins: int, groups: NDArray[Any] | None
    ) -> None:
        self.bins, (self.runs, self.count) = bins, place.shape
        self.sizes = sizes_of(groups, self.count)
        column = place + bins * np.arange(self.runs)[:, None]

        def spread(values: Floats | float) -> Floats:
            columns = np.zeros((self.count, self.runs * bins))
            columns[np.arange(self.count), column] = values
            return columns if groups is None else sum_by_group(columns, groups)

        self.differences, self.numbers = spread(difference), spread(1.0)
        self.inside = self.numbers.sum(0)
        self.gaps = self.differences.sum(0) / self.count
        self.rights = spread(right).sum(0)

    @property
    def units(self) -> int:
        return len(self.differences)

    def noise(self) -> Floats:
        """How far the gaps of resamples are from their mean, [draws, k], as large as the data's own noise."""
        columns = np.concatenate([self.differences, self.numbers[:, : self.bins].sum(1, keepdims=True)], axis=1)
        # The value rests on the draws: sorted, they do not depend on the order of the samples.
        columns = columns[np.argsort(columns @ np.random.default_rng(20).random(columns.shape[1]), kind="stable")]
        sums = np.concatenate(list(resampled_sums(columns)))
        drawn = sums[:, :-1] / sums[:, -1:]
        return (drawn - drawn.mean(0)) * sqrt(self.units / (self.units - 1))

    def careful(self, noise: Floats) -> Floats:
        """The noise with what few units cannot show (`few_units`), and that of bins whose answers are all right or all wrong.

        Those vary as if two more had been right and two more wrong (Agresti & Coull 1998), whatever resamples of them show.
        """
        squares = np.square(self.numbers).sum(0)
        units = np.divide(self.inside**2, squares, out=np.ones_like(squares), where=squares > 0)
        mean = np.divide(self.rights, self.inside, out=np.zeros_like(squares), where=self.inside > 0)
        share = (units * mean + 2) / (units + 4)
        missing = np.maximum(squares * share * (1 - share) / self.count**2 - noise.var(0), 0.0)
        missing = np.where((mean == 0) | (mean == 1), missing, 0.0)
        drawn = np.tile(np.random.default_rng(0).normal(size=(REPEATS, self.bins)), self.runs)  # runs vary together
        beyond = few_factor(self.sizes) / sqrt(self.units / (self.units - 1))
        return noise * beyond + drawn * np.sqrt(missing)


def _without_noise(binned: _Binned, runs: int) -> tuple[float, float, float, Floats]:
    """The error without the part that noise adds, its interval, and the errors of single runs."""
    per_run = np.abs(binned.gaps).reshape(runs, binned.bins).sum(1)
    if binned.units < 2:
        return float(per_run.mean()), nan, nan, per_run
    noise, used = binned.noise(), binned.inside > 0
    gaps, shares = binned.gaps[used] / runs, binned.inside[used] / (binned.count * runs)
    value = debiased_sum(gaps, noise[:, used] / runs)
    both = (interval_of_sum(gaps, shares, kind[:, used] / runs) for kind in (noise, binned.careful(noise)))
    low, high = zip(*both)
    by_run = zip(np.split(binned.gaps, runs), np.split(noise, runs, axis=1), strict=True)
    each = np.array([debiased_sum(own, own_noise) for own, own_noise in by_run])
    return value, min(value, *low), max(value, *high), each


def _farthest(sure: Floats, share: Estimate) -> float:
    """How far accuracy may be from mean confidence, which the error is never below, where all answers are alike; or nan."""
    return max(abs(float(sure.mean()) - end) for end in (share.low, share.high))


def _mean_by_bin(
    place: NDArray[np.int64], values: NDArray[np.float64], within: NDArray[np.int64]
) -> NDArray[np.float64]:
    sums = np.bincount(place.ravel(), values.ravel(), len(within))
    return np.divide(sums, within, out=np.full(len(within), nan), where=within > 0)
