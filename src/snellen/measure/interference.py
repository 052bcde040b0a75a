"""Data interference: does a distortion push the errors towards one class? (Marcu & Prügel-Bennett 2022)

If it does, the distortion shows the model something that it takes for that class, and a loss of accuracy may be an
artefact of the distortion rather than a weakness of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS, percentiles, resampled_sums
from snellen.measure.estimate import Estimate
from snellen.measure.wrong_answers import Floats, Normaliser, WrongAnswers, conditions


@dataclass(frozen=True)
class Interference(Estimate):
    """The DI index, 0 (none) to the number of classes K (every new error is of one class, in every run).

    `value` is the `index`; `low` and `high` are its bootstrap interval; `n` counts the distorted samples.
    `std` and `worst_case_std` are sample deviations over the runs, nan for a single run. `dominant` is the class with
    the highest mean increase, −1 if no class has one. `increase` [runs, K] is the signed difference in share, distorted
    less clean, per predicted class as in figure 2 of the paper: not scaled by K.
    """

    index: float
    std: float
    worst_case: float
    worst_case_std: float
    dominant: int
    per_run: Floats = field(compare=False)
    increase: Floats = field(compare=False)


def interference(
    clean: ArrayLike,
    distorted: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    distorted_labels: ArrayLike | None = None,
    normaliser: Normaliser = "errors",
    *,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Interference:
    """The data interference (DI) index of a distortion (Marcu & Prügel-Bennett 2022, equation 1).

    `clean` and `distorted` are predicted classes, [runs, samples] or [samples]. Per run r, count the wrong answers by
    the class c that was predicted and divide by all wrong answers of that run and condition (`normaliser="errors"`) or
    by its samples (`"samples"`). Of distorted less clean keep what is positive, times K: the rise c_r. With cmax the
    one class of highest mean rise over the runs (ties: the lowest),

        v_r = c_r[cmax] / sum(c_r) · mean over runs of c[cmax],      index = mean of v_r,

    `worst_case` puts each run's own highest rise in the place of its c_r[cmax] (table 9). A run in which no class rises
    has v_r = 0; a condition without errors has share 0 in every class; no samples give nan.

    A prediction of −1 is a class outside the dataset: an error of no class. With `"errors"` it stays in the divisor, so
    the shares then sum to less than 1 and errors that leave the dataset lower the index.

    `distorted_labels` says that the distorted samples are others than the clean ones, in number or order; otherwise
    the two are paired. The interval is a bootstrap over samples, the same for all runs (drawn apart if not paired), in
    which each resample finds its own cmax; its percentiles are moved so that their median is the index, because noise
    bends the index (up where nothing rises, down where one class does) and a resample has twice the noise. It tells how
    the index varies with the images, not where the truth is: simulated, it covers the index of endless data 94 % of the
    time where one class takes most errors, 77 to 92 % where one rises among others, but 5 to 33 % where nothing rises
    or one class does slightly amid chance; there compare with `interference_null`. `repeats=0` leaves it nan.
    """
    before, after = conditions(clean, distorted, labels, num_classes, distorted_labels, normaliser)
    if not before.samples or not after.samples:
        return _nothing(before.runs, num_classes, after.samples)
    increase = after.shares(after.histogram()) - before.shares(before.histogram())
    per_run, dominant = _per_run(increase)
    worst_per_run = _worst_per_run(increase)
    index = float(per_run.mean())
    low = high = nan
    if repeats and min(before.samples, after.samples) > 1:
        resampled = _resampled_indices(before, after, distorted_labels is None, repeats, seed)
        low, high = np.clip(percentiles(resampled - np.median(resampled) + index), 0, num_classes).tolist()
    return Interference(
        value=index,
        low=low,
        high=high,
        n=after.samples,
        index=index,
        std=_deviation(per_run),
        worst_case=float(worst_per_run.mean()),
        worst_case_std=_deviation(worst_per_run),
        dominant=int(dominant),
        per_run=per_run,
        increase=increase,
    )


def index_of(increase: Floats) -> Floats:
    """The index of signed differences in share, from [..., runs, K] to [...]."""
    return _per_run(increase)[0].mean(axis=-1)


def _resampled_indices(before: WrongAnswers, after: WrongAnswers, paired: bool, repeats: int, seed: int) -> Floats:
    """The index on resampled images, [repeats]; where paired, clean and distorted images are drawn together."""
    if paired:
        from scipy import sparse

        both = sparse.hstack([before.columns(), after.columns()], format="csc")
        pairs: Any = (np.split(sums, [before.bins], axis=1) for sums in resampled_sums(both, repeats, seed))
    else:
        pairs = zip(*(resampled_sums(one.columns(), repeats, seed + i) for i, one in enumerate((before, after))))
    indices = []
    for a, b in pairs:
        each_run = (len(a), before.runs, -1)
        increase = after.shares(b.reshape(each_run)) - before.shares(a.reshape(each_run))
        indices.append(index_of(increase))
    return np.concatenate(indices)


def _per_run(increase: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The values v_r, [..., runs], and the class they are of, [...]: −1 where no class rises."""
    rise = _rise(increase)
    mean = rise.mean(axis=-2)
    dominant = mean.round(12).argmax(axis=-1)  # classes that tie but for rounding errors do tie
    there = np.take_along_axis(rise, dominant[..., None, None], axis=-1)[..., 0]
    return _dominance(there, rise), np.where(mean.max(axis=-1) > 0, dominant, -1)


def _worst_per_run(increase: Floats) -> Floats:
    """As v_r, but of the class that rises most in that very run (Marcu & Prügel-Bennett 2022, table 9)."""
    rise = _rise(increase)
    return _dominance(rise.max(axis=-1), rise)


def _rise(increase: Floats) -> Floats:
    return np.maximum(increase, 0) * increase.shape[-1]


def _dominance(there: Floats, rise: Floats) -> Floats:
    """What share of a run's rise lies `there`, [..., runs], times the mean rise there over the runs."""
    total = rise.sum(axis=-1)
    share = np.divide(there, total, out=np.zeros_like(there), where=total > 0)
    return share * there.mean(axis=-1, keepdims=True)


def _deviation(per_run: Floats) -> float:
    return float(per_run.std(ddof=1)) if len(per_run) > 1 else nan


def _nothing(runs: int, num_classes: int, n: int) -> Interference:
    per_run, increase = np.full(runs, nan), np.full((runs, num_classes), nan)
    return Interference(nan, nan, nan, n, nan, nan, nan, nan, -1, per_run, increase)
