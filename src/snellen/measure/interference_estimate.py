"""Data interference: does a distortion push the errors towards one class? (Marcu & Prügel-Bennett 2022)

If it does, the distortion shows the model something that it takes for that class, and a loss of accuracy may be an
artefact of the distortion rather than a weakness of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.estimate import Estimate
from snellen.measure.interference_index import per_run_values, per_run_worst_values, worst_case_values
from snellen.measure.interference_interval import DRAWS, plausible_index
from snellen.measure.wrong_answers import Floats, Normaliser, WrongAnswers, conditions


@dataclass(frozen=True)
class Interference(Estimate):
    """The DI index, 0 (none) to the number of classes K (every new error is of one class, in every run).

    `index` is the point estimate of the paper, with `per_run`, `std` and the worst cases made of it. Chance bends it, so
    `value` is the true index under which half of such data sets have a higher `index`; `low` and `high` are its 95%
    interval, which `index` itself may lie outside of. `n` counts the distorted samples; `detectable` is the true index
    that four of five such data sets would tell from chance.

    `std`, `worst_case_std` and `per_run_worst_std` are sample deviations over the runs, nan for a single run. `dominant`
    is the class with the highest mean increase, −1 if no class has one. `increase` [runs, K] is the signed difference in
    share, distorted less clean, per predicted class as in figure 2 of the paper: not scaled by K.
    """

    index: float
    std: float
    worst_case: float
    worst_case_std: float
    dominant: int
    per_run: Floats = field(compare=False)
    increase: Floats = field(compare=False)
    per_run_worst: float = nan
    per_run_worst_std: float = nan
    detectable: float = nan

    @property
    def beyond_chance(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.low > 0


def interference(
    clean: ArrayLike,
    distorted: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    distorted_labels: ArrayLike | None = None,
    normaliser: Normaliser = "errors",
    *,
    groups: ArrayLike | None = None,
    repeats: int = DRAWS,
    seed: int = 0,
) -> Interference:
    """The data interference (DI) index of a distortion (Marcu & Prügel-Bennett 2022, equation 1).

    `clean` and `distorted` are predicted classes, [runs, samples] or [samples]. Per run r, count the wrong answers by
    the class c that was predicted and divide by all wrong answers of that run and condition (`normaliser="errors"`) or
    by its samples (`"samples"`). Of distorted less clean keep what is positive, times K: the rise c_r. With cmax the
    one class of highest mean rise over the runs (ties: the lowest),

        v_r = c_r[cmax] / sum(c_r) · mean over runs of c[cmax],      index = mean of v_r,

    `worst_case` puts the maximum over runs of c[cmax] in the place of the mean (table 9); `per_run_worst` lets each run
    have a class of its own, the one that rises most in it. A run in which no class rises has v_r = 0; a condition without
    errors has share 0 in every class; no samples give nan.

    A prediction of −1 is a class outside the dataset: an error of no class. With `"errors"` it stays in the divisor, so
    the shares then sum to less than 1 and errors that leave the dataset lower the index.

    `distorted_labels` says that the distorted samples are others than the clean ones, in number or order; otherwise
    the two are paired. `value`, `low` and `high` are about the index of these runs on endless images of this kind, from
    `repeats` simulated data sets per candidate truth (`interference_interval`). Runs that make the same errors count for as
    much as they tell apart, and so do images of one of the `groups` [samples], such as a video. Simulated coverage:
    docs/results/coverage.md. `repeats=0` leaves the interval nan and the value that of the paper.

    >>> import numpy as np
    >>> from snellen.measure import interference
    >>> labels = np.repeat([0, 1, 2], 40)
    >>> distorted = np.where(np.arange(120) % 4, labels, 2)  # every fourth image is taken for class 2
    >>> found = interference(labels, distorted, labels, 3)
    >>> found.dominant, found.index
    (2, 3.0)
    """
    before, after = conditions(clean, distorted, labels, num_classes, distorted_labels, normaliser, groups)
    return interference_between(before, after, distorted_labels is None, repeats, seed)


def interference_between(
    before: WrongAnswers, after: WrongAnswers, paired: bool = True, repeats: int = DRAWS, seed: int = 0
) -> Interference:
    """The same of errors that are counted already; `paired` says that both are of the same samples."""
    if not before.samples or not after.samples:
        return _nothing(before.runs, before.num_classes, after.samples)
    increase = after.shares(after.histogram) - before.shares(before.histogram)
    per_run, dominant = per_run_values(increase)
    worst, own = worst_case_values(increase), per_run_worst_values(increase)
    index = float(per_run.mean())
    value, low, high, detectable = index, nan, nan, nan
    if repeats and min(before.samples, after.samples) > 1:
        truth = plausible_index(before, after, paired, repeats, seed)
        value, low, high, detectable = truth.value, truth.low, truth.high, truth.detectable
    return Interference(
        value=value,
        low=low,
        high=high,
        n=after.samples,
        index=index,
        std=_deviation(per_run),
        worst_case=float(worst.mean()),
        worst_case_std=_deviation(worst),
        dominant=int(dominant),
        per_run=per_run,
        increase=increase,
        per_run_worst=float(own.mean()),
        per_run_worst_std=_deviation(own),
        detectable=detectable,
    )


def _deviation(per_run: Floats) -> float:
    return float(per_run.std(ddof=1)) if len(per_run) > 1 else nan


def _nothing(runs: int, num_classes: int, n: int) -> Interference:
    per_run, increase = np.full(runs, nan), np.full((runs, num_classes), nan)
    return Interference(nan, nan, nan, n, nan, nan, nan, nan, -1, per_run, increase)
