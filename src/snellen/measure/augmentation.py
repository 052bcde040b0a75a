"""What an augmentation does: how far it moves the data for a model (affinity) and how hard it is to fit (diversity)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.averages import Floats, deviation, means, same_runs, samples_of
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.estimate import Estimate


@dataclass(frozen=True)
class OverRuns(Estimate):
    """A mean over runs with its sample deviation `std` over them (nan for one run) and the values `per_run`."""

    std: float
    per_run: Floats = field(compare=False)


def affinity(
    clean_accuracy: ArrayLike, augmented_accuracy: ArrayLike, groups: ArrayLike | None = None, *, seed: int = 0
) -> OverRuns:
    """Accuracy on augmented less accuracy on clean test images, of models trained without the augmentation.

    (Gontijo-Lopes et al. 2020; Marcu & Prügel-Bennett 2022, table 6.) 0 is no loss, negative a loss. Each argument
    is an accuracy, one per run, or scores [runs, samples] of the same images; only with scores is there an
    interval, a paired bootstrap, and `n` counts samples. A mixed image's label is that of the image which has the
    most of it.

    >>> from snellen.measure import affinity
    >>> round(affinity([0.9, 0.8], [0.7, 0.7]).value, 6)
    -0.15
    """
    clean, augmented = means(clean_accuracy), means(augmented_accuracy)
    same_runs(clean=clean, augmented=augmented)
    per_run = augmented - clean
    low = high = nan
    if samples_of(clean_accuracy) and samples_of(augmented_accuracy):
        paired = paired_difference(augmented_accuracy, clean_accuracy, groups, seed)
        low, high = paired.low, paired.high
    return OverRuns(float(per_run.mean()), low, high, samples_of(clean_accuracy), deviation(per_run), per_run)


def diversity(losses: ArrayLike, *, seed: int = 0) -> OverRuns:
    """Training loss of models trained with the augmentation, in the last epoch (Gontijo-Lopes et al. 2020).

    `losses` are cross-entropies against the majority label: one mean per run [runs], or one per sample [runs, samples],
    which gives an interval by a bootstrap over the samples. With the λ-weighted loss instead it is the paper's
    MixDiversity.

    >>> from snellen.measure import diversity
    >>> diversity([0.25, 0.75]).value
    0.5
    """
    per_run = means(losses)
    low = high = nan
    if samples_of(losses):
        columns = np.asarray(losses, np.float64).mean(axis=0)[:, None]
        counted = np.concatenate([columns, np.ones_like(columns)], axis=1)
        low, high = bootstrap_interval(counted, lambda sums: sums[:, 0] / sums[:, 1], seed=seed)
    value = float(per_run.mean()) if len(per_run) else nan
    return OverRuns(value, low, high, samples_of(losses), deviation(per_run), per_run)
