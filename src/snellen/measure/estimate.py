"""What a measure returns: a number, its 95 % interval and how many samples stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Estimate:
    """A `value` with its 95 % interval from `low` to `high`, from `n` samples.

    nan is "not looked at", never "failed": no data gives nan for all three, too little data for an interval gives nan
    for `low` and `high`.
    """

    value: float
    low: float
    high: float
    n: int


NO_DATA = Estimate(nan, nan, nan, 0)


def as_runs(answers: ArrayLike) -> NDArray[Any]:
    """The answers as [runs, samples]; [samples] is taken as one run."""
    answers = np.asarray(answers)
    if answers.ndim not in (1, 2):
        raise ValueError(f"expected [samples] or [runs, samples], got an array of shape {answers.shape}")
    return np.atleast_2d(answers)


def sums_and_counts(scores: ArrayLike) -> NDArray[np.float64]:
    """Per sample the sum of its scores over the runs and the number of them, [samples, 2]; nan does not count."""
    scores = as_runs(scores).astype(np.float64)
    return np.stack([np.nansum(scores, axis=0), np.sum(~np.isnan(scores), axis=0)], axis=1)
