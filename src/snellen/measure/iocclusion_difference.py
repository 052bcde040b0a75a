"""How far two iOcclusions are apart: of two fills, two parts of the data or two models (Marcu & Prügel-Bennett 2022, 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot, inf, nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.averages import Floats, deviation
from snellen.measure.bootstrap import REPEATS, resampled_sums, sum_by_group
from snellen.measure.estimate import Estimate
from snellen.measure.few_units import UnitSizes, fewest
from snellen.measure.iocclusion_ratio import clear_of_zero, ratio_bounds


@dataclass(frozen=True)
class Covered:
    """Scores [runs, samples] of train and test images, clean and, one array a share, covered; `groups` label the samples."""

    train: ArrayLike
    test: ArrayLike
    train_occluded: Sequence[ArrayLike]
    test_occluded: Sequence[ArrayLike]
    groups: tuple[ArrayLike | None, ArrayLike | None] = (None, None)

    @property
    def runs(self) -> int:
        """How many runs of the recipe there are."""
        return len(np.asarray(self.train))

    @property
    def columns(self) -> tuple[Floats, Floats]:
        """What each train and each test sample or group adds, [units, 1 + runs · (1 + shares)]: itself, then its scores."""
        sides = (self.train, self.train_occluded), (self.test, self.test_occluded)
        first, second = (_columns([clean, *covered], group) for (clean, covered), group in zip(sides, self.groups))
        return first, second


@dataclass(frozen=True)
class MeanIOcclusion(Estimate):
    """iOcclusion, the mean over shares and runs; `per_run` the mean over shares, `std` its deviation over runs."""

    std: float
    per_run: Floats = field(compare=False)


@dataclass(frozen=True)
class IOcclusionGap(Estimate):
    """The mean iOcclusion of one side (`first`) less that of the other (`second`).

    `per_run` and `std` are of the differences, run by run; empty and nan where the sides have other runs.
    """

    first: float
    second: float
    std: float
    per_run: Floats = field(compare=False)


def mean_iocclusion(covered: Covered, *, repeats: int = REPEATS, seed: int = 0) -> MeanIOcclusion:
    """|gap covered| / |gap|, per share and run, then the mean; the interval draws train and test images apart.

    As absolute gaps cannot fall below 0, runs and shares at which the sign of the gap under occlusion is not clear count as 0 for
    the lower end. The rest is as in `iocclusion`.

    >>> from snellen.measure import Covered, mean_iocclusion
    >>> clean = [[1] * 10], [[1] * 8 + [0] * 2]  # train, test: a gap of 0.2
    >>> covered = [[1] * 6 + [0] * 4], [[1] * 5 + [0] * 5]  # a gap of 0.1
    >>> round(mean_iocclusion(Covered(*clean, [covered[0]], [covered[1]])).value, 6)
    0.5
    """
    per_run, ends = _of(covered), _ends(covered, repeats, seed)
    count = np.asarray(covered.test).shape[1]
    return MeanIOcclusion(float(per_run.mean()), ends.low, ends.high, count, deviation(per_run), per_run)


def iocclusion_gap(
    first: Covered, second: Covered, *, shared: bool, repeats: int = REPEATS, seed: int = 0
) -> IOcclusionGap:
    """The difference of two mean iOcclusions. `shared`: both are of the same images, which then are drawn together.

    A resample without a gap between train and test makes a ratio infinite, so an interval may end at (minus) infinity;
    one without a gap on both sides says nothing and counts at both ends. Where the sign of a gap under occlusion is not clear,
    the measured ratio is too high and resamples do not tell. Then the end follows from the intervals of both sides too (Zou &
    Donner 2008, MOVER), of which the lower ends allow for that.

    >>> from snellen.measure import Covered, iocclusion_gap
    >>> clean = [[1] * 10], [[1] * 8 + [0] * 2]  # train, test: a gap of 0.2
    >>> first = Covered(*clean, [[[1] * 6 + [0] * 4]], [[[1] * 5 + [0] * 5]])
    >>> second = Covered(*clean, [[[1] * 6 + [0] * 4]], [[[1] * 6 + [0] * 4]])
    >>> round(iocclusion_gap(first, second, shared=True).value, 6)
    0.5
    """
    of_first, of_second = _of(first), _of(second)
    (train, test), (other_train, other_test) = first.columns, second.columns
    drawn: list[Floats] = []
    if shared:
        wide = train.shape[1]
        both = np.hstack([train, other_train]), np.hstack([test, other_test])
        for seen, unseen in _drawn(both, repeats, seed):
            with np.errstate(invalid="ignore"):
                drawn.append(
                    _ratio(seen[:, :wide], unseen[:, :wide], first.runs).mean(1)
                    - _ratio(seen[:, wide:], unseen[:, wide:], second.runs).mean(1)
                )
    else:
        apart = _drawn((other_train, other_test), repeats, seed + 2)
        for sums, other_sums in zip(_drawn((train, test), repeats, seed), apart):
            with np.errstate(invalid="ignore"):
                drawn.append(_ratio(*sums, first.runs).mean(1) - _ratio(*other_sums, second.runs).mean(1))
    per_run = of_first - of_second if len(of_first) == len(of_second) else np.empty(0)
    value = float(of_first.mean() - of_second.mean())
    low = high = nan
    if drawn:
        units = fewest(*(side[:, 0].astype(np.int64) for side in (train, test, other_train, other_test)))
        low, high = _difference_bounds(value, np.concatenate(drawn), units)
        low, high = _with_unclear_signs(low, high, _ends(first, repeats, seed), _ends(second, repeats, seed))
    count = np.asarray(first.test).shape[1] + (0 if shared else np.asarray(second.test).shape[1])
    return IOcclusionGap(
        value, low, high, count, float(of_first.mean()), float(of_second.mean()), deviation(per_run), per_run
    )


@dataclass(frozen=True)
class _Ends:
    """A mean iOcclusion, what is `sure` of it (gaps of unclear sign count as 0), and its interval."""

    value: float
    sure: float
    low: float
    high: float


def _ends(covered: Covered, repeats: int, seed: int) -> _Ends:
    value = float(_of(covered).mean())
    drawn = [_gaps(*sums, covered.runs) for sums in _drawn(covered.columns, repeats, seed)]
    if not drawn:
        return _Ends(value, value, nan, nan)
    gap, hidden = (np.concatenate(part) for part in zip(*drawn))
    shares = hidden.shape[1]
    clear = clear_of_zero(hidden, shares) & clear_of_zero(hidden.mean(2, keepdims=True), shares)
    train, test = covered.columns
    units = fewest(*(side[:, 0].astype(np.int64) for side in (train, test)))
    whole, whole_hidden = _gaps(train.sum(0, keepdims=True), test.sum(0, keepdims=True), covered.runs)
    _, high = ratio_bounds(value, _by(gap, hidden).mean(1), units)
    sure = float(_by(whole, whole_hidden * clear).mean())
    low, _ = ratio_bounds(sure, _by(gap, hidden * clear).mean(1), units)
    return _Ends(value, sure, max(0.0, low) if low == low else low, high)


def _difference_bounds(value: float, draws: Floats, units: UnitSizes) -> tuple[float, float]:
    """The middle 95% of differences, corrected for the bias of the ratio on either side."""
    low, high = ratio_bounds(value, draws, units)
    other_high, other_low = (-end for end in ratio_bounds(-value, -draws, units))
    return min(low, other_low), max(high, other_high)


def _with_unclear_signs(low: float, high: float, first: _Ends, second: _Ends) -> tuple[float, float]:
    """The ends of a difference, farther off where a side has gaps under occlusion whose sign is not clear."""
    if first.sure < first.value:
        low = min(low, first.sure - second.value - hypot(first.sure - first.low, second.high - second.value))
    if second.sure < second.value:
        high = max(high, first.value - second.sure + hypot(first.high - first.value, second.sure - second.low))
    return low, high


def _of(covered: Covered) -> Floats:
    """The mean over shares, [runs]; nan where a run has no gap to divide by, or there are no images."""
    train, test = covered.columns
    if not len(train) or not len(test):
        return np.full(covered.runs, nan)
    ratio = _ratio(train.sum(0, keepdims=True), test.sum(0, keepdims=True), covered.runs)[0]
    return np.where(np.isfinite(ratio), ratio, nan)


def _ratio(seen: Floats, unseen: Floats, runs: int) -> Floats:
    """Of sums [resamples, columns] the ratios [resamples, runs], their mean over shares; infinite where there is no gap."""
    return _by(*_gaps(seen, unseen, runs))


def _gaps(seen: Floats, unseen: Floats, runs: int) -> tuple[Floats, Floats]:
    """Train less test accuracy of sums [resamples, columns]: clean [resamples, runs] and covered [resamples, shares, runs]."""
    difference = seen[:, 1:] / seen[:, :1] - unseen[:, 1:] / unseen[:, :1]
    return difference[:, :runs], difference[:, runs:].reshape(len(seen), -1, runs)


def _by(gap: Floats, covered: Floats) -> Floats:
    """[resamples, runs]: the mean over shares of the absolute covered gaps by the absolute clean ones."""
    size = np.abs(gap)
    return np.divide(np.abs(covered).mean(1), size, out=np.full(size.shape, inf), where=size > 1e-12)


def _drawn(columns: tuple[Floats, Floats], repeats: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Sums over resampled train and test images; none where there are no two of each to draw from."""
    train, test = columns
    if min(len(train), len(test)) < 2:
        return
    # As in iocclusion: train images are drawn apart from test images.
    yield from zip(resampled_sums(train, repeats, seed + 1), resampled_sums(test, repeats, seed))


def _columns(scores: Sequence[ArrayLike], groups: ArrayLike | None) -> Floats:
    arrays = [np.asarray(values, np.float64) for values in scores]
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"expected scores of the same runs and images, got {[array.shape for array in arrays]}")
    columns = np.concatenate([np.ones((1, arrays[0].shape[1])), *arrays]).T
    return columns if groups is None else sum_by_group(columns, groups)
