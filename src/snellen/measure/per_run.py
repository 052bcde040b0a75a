"""Accuracies of several runs: one number, one a run, or the scores behind them."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def means(accuracies: ArrayLike) -> Floats:
    """One mean per run, [runs], of one number, of [runs] or of scores [runs, samples]; no samples give nan."""
    given = np.asarray(accuracies, dtype=np.float64)
    if given.ndim < 2:
        return np.atleast_1d(given)
    if given.ndim > 2:
        raise ValueError(f"expected one number, [runs] or [runs, samples], got an array of shape {given.shape}")
    return given.mean(axis=1) if given.shape[1] else np.full(len(given), nan)


def samples_of(accuracies: ArrayLike) -> int:
    """How many samples stand behind the accuracies: 0 where only means are given."""
    given = np.asarray(accuracies)
    return given.shape[1] if given.ndim == 2 else 0


def deviation(per_run: Floats) -> float:
    """The sample deviation over runs; nan for a single run, which shows no spread."""
    return float(np.std(per_run, ddof=1)) if len(per_run) > 1 else nan


def same_runs(**given: Floats) -> None:
    """Raise unless all have one value for each of the same runs."""
    counts = {name: len(values) for name, values in given.items()}
    if len(set(counts.values())) > 1 or not all(counts.values()):
        said = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise ValueError(f"expected the same number of runs everywhere, got {said}")
