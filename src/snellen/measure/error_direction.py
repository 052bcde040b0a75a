"""The direction of what a modification changes: which classes gain and lose errors (Marcu & Prügel-Bennett 2022, section 4.1).

The paper asks whether not the size of a shift matters but where it points. Here a direction is the vector of the
change, per predicted class, in the share of wrong answers; runs that agree on it were moved the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.bootstrap import REPEATS, percentiles, resampled_sums
from snellen.measure.estimate import Estimate
from snellen.measure.wrong_answers import Floats, Normaliser, WrongAnswers, conditions

_LEAST = 1e-12  # of a squared length


@dataclass(frozen=True)
class Direction(Estimate):
    """`value` is the agreement of the runs: the mean cosine between their shifts over all pairs of runs, −1 to 1.

    `shift` [classes] is the mean over runs of `per_run` [runs, classes], the change in the share of wrong answers per
    predicted class. `null95` is the agreement that 5 % of directions without any relation exceed, `p` how often such
    ones agree at least as much. One run has a shift but no agreement (nan). `n` counts the samples.
    """

    null95: float
    p: float
    shift: Floats = field(compare=False)
    per_run: Floats = field(compare=False)


def direction(
    before: ArrayLike,
    after: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    after_labels: ArrayLike | None = None,
    normaliser: Normaliser = "errors",
    *,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Direction:
    """Where errors move from `before` to `after`, and whether the runs agree on it.

    Both are predicted classes [runs, samples]: of one model on clean and on modified images, or of models trained
    without and with an augmentation on the same images (run i beside run i). The null gives each run's shift to classes
    at random, apart from the other runs. A run whose shift is none agrees with nobody (0).

    The interval is about endless images. Noise lengthens shifts and turns them apart, so that few images show too little
    agreement; it is a bootstrap over samples, the same for all runs, of cosines from which the noise is taken off. It holds the
    value too, which may be its lower end.

    >>> import numpy as np
    >>> from snellen.measure import direction
    >>> labels = np.repeat([0, 1, 2], 40)
    >>> before = np.array([labels, labels])
    >>> after = np.where(np.arange(120) % 4, labels, 2)[None].repeat(2, 0)  # every fourth image is taken for class 2
    >>> round(direction(before, after, labels, 3).value, 6)
    1.0
    """
    first, second = conditions(before, after, labels, num_classes, after_labels, normaliser)
    if not first.samples or not second.samples:
        none = np.full((first.runs, num_classes), nan)
        return Direction(nan, nan, nan, second.samples, nan, nan, none.mean(axis=0), none)
    per_run = second.shares(second.histogram) - first.shares(first.histogram)
    value = float(agreement(per_run)) if first.runs > 1 else nan
    low = high = null95 = p = nan
    if first.runs > 1 and repeats:
        random = np.random.default_rng(seed)
        null = np.array([agreement(random.permuted(per_run, axis=1)) for _ in range(repeats)])
        null95, p = float(np.quantile(null, 0.95)), float((1 + np.sum(null >= value - 1e-12)) / (1 + repeats))
        if after_labels is None and second.samples > 1:
            ends = np.clip(percentiles(_without_noise(_resampled(first, second, repeats, seed))), -1, 1)
            low, high = float(min(ends[0], value)), float(max(ends[1], value))
    return Direction(value, low, high, second.samples, null95, p, per_run.mean(axis=0), per_run)


def agreement(shifts: Floats) -> Floats:
    """The mean cosine over all pairs of runs, [...] of shifts [..., runs, classes]."""
    length = np.linalg.norm(shifts, axis=-1, keepdims=True)
    unit = np.divide(shifts, length, out=np.zeros_like(shifts), where=length > 0)
    runs = shifts.shape[-2]
    # The squared length of the sum holds each pair twice and each run with itself once.
    together = np.square(unit.sum(axis=-2)).sum(axis=-1) - np.square(unit).sum(axis=(-2, -1))
    return together / (runs * (runs - 1))


def _resampled(first: WrongAnswers, second: WrongAnswers, repeats: int, seed: int) -> Floats:
    """The shifts on resampled images, [repeats, runs, classes]."""
    from scipy import sparse

    both = sparse.hstack([first.columns(), second.columns()], format="csc")
    shifts = []
    for sums in resampled_sums(both, repeats, seed):
        before, after = (part.reshape(len(sums), first.runs, -1) for part in np.split(sums, [first.bins], axis=1))
        shifts.append(second.shares(after) - first.shares(before))
    return np.concatenate(shifts)


def _without_noise(shifts: Floats) -> Floats:
    """The agreement of resampled shifts, [repeats], with the noise taken off their products: that of the images and as much again
    of their resample. Where more is taken off than there is, no length is known, and the cosine is at an end."""
    noise = shifts - shifts.mean(axis=0)
    products = np.einsum("...rk,...sk->...rs", shifts, shifts) - 2 * np.einsum("nrk,nsk->rs", noise, noise) / len(
        shifts
    )
    length = np.sqrt(np.maximum(np.diagonal(products, axis1=-2, axis2=-1), _LEAST))
    first, second = np.triu_indices(shifts.shape[-2], 1)
    cosines = products[..., first, second] / (length[..., first] * length[..., second])
    return np.asarray(cosines.mean(axis=-1))
