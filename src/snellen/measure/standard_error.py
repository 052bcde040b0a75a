"""The standard error of a mean over images."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.bootstrap import sum_by_group
from snellen.measure.estimate import as_runs


def standard_error(scores: ArrayLike, groups: ArrayLike | None = None) -> float:
    """How far the mean of scores [samples] or [runs, samples] would vary with other images: s / √n, s with n − 1.

    Runs are averaged first; nan does not count. With `groups`, one label per sample, whole groups vary together (the estimator
    of clustered means). nan for fewer than two samples or groups.
    """
    runs = as_runs(scores).astype(np.float64)
    counted = ~np.isnan(runs)
    known = counted.any(0)
    means = np.nansum(runs, 0)[known] / counted.sum(0)[known]
    deviations = means - means.mean() if len(means) else means
    if groups is not None:
        deviations = sum_by_group(deviations[:, None], np.asarray(groups)[known])[:, 0] if len(means) else deviations
    units = len(deviations)
    if units < 2:
        return nan
    return sqrt(float(np.square(deviations).sum()) * units / (units - 1)) / len(means)
