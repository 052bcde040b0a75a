"""The DI index of signed differences in share: the arithmetic of Marcu & Prügel-Bennett 2022, equation 1 and table 9."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from snellen.measure.wrong_answers import Floats


def index_of(increase: Floats) -> Floats:
    """The index of signed differences in share, from [..., runs, K] to [...]."""
    return per_run_values(increase)[0].mean(axis=-1)


def per_run_values(increase: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The values v_r, [..., runs], and the class they are of, [...]: −1 where no class rises."""
    rise = _rise(increase)
    there, dominant = _at_dominant(rise)
    return _dominance(there, rise, there.mean(axis=-1, keepdims=True)), dominant


def worst_case_values(increase: Floats) -> Floats:
    """As v_r, but weighted by the highest rise of the dominant class in any run (table 9)."""
    rise = _rise(increase)
    there, _ = _at_dominant(rise)
    return _dominance(there, rise, there.max(axis=-1, keepdims=True))


def per_run_worst_values(increase: Floats) -> Floats:
    """As v_r, but of the class that rises most in that very run: each run may be fooled towards a class of its own."""
    rise = _rise(increase)
    there = rise.max(axis=-1)
    return _dominance(there, rise, there.mean(axis=-1, keepdims=True))


def _rise(increase: Floats) -> Floats:
    rise: Floats = np.maximum(increase, 0)
    rise *= increase.shape[-1]
    return rise


def _at_dominant(rise: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The rise of the class with the highest mean over runs, [..., runs], and that class; −1 where no class rises."""
    mean = rise.mean(axis=-2) if rise.shape[-2] > 1 else rise[..., 0, :]  # of many classes this takes long
    dominant = mean.round(12).argmax(axis=-1)  # classes that tie but for rounding errors do tie
    there = np.take_along_axis(rise, dominant[..., None, None], axis=-1)[..., 0]
    return there, np.where(mean.max(axis=-1) > 0, dominant, -1)


def _dominance(there: Floats, rise: Floats, weight: Floats) -> Floats:
    """What share of a run's rise lies `there`, [..., runs], times `weight`."""
    total = rise.sum(axis=-1)
    return np.divide(there, total, out=np.zeros_like(there), where=total > 0) * weight
