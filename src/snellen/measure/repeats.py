"""The noise floor: how far answers to identical pixels differ, where a model answers differently from time to time."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.estimate import NO_DATA, Estimate

_Z = 1.959963984540054  # the normal quantile of 97.5%


def answer_changes(answers: ArrayLike, groups: ArrayLike | None = None) -> Estimate:
    """The share of answers to an image that another answer to the same image contradicts.

    `answers` [repeats, samples] are classes by number; each pair of repeats counts alike. A model that names class c of an image
    with probability p_c differs from itself in 1 − Σ p_c² of pairs: 2 q (1 − q) where it is right or wrong with probability q.
    The interval is that of an accuracy.

    >>> from snellen.measure import answer_changes
    >>> answer_changes([[0, 1, 2, 2], [0, 1, 2, 0]]).value
    0.25
    """
    classes = np.asarray(answers)
    if classes.ndim != 2:
        raise ValueError(f"expected answers [repeats, samples], got {list(classes.shape)}")
    if len(classes) < 2 or not classes.shape[1]:
        return NO_DATA
    return accuracy(_differing_pairs(classes), groups)


def accuracy_noise(correct: ArrayLike) -> float:
    """How far two accuracies of the same images differ by the model's own noise alone, in 95% of cases.

    `correct` [repeats, samples] are scores of 0 or 1; each accuracy is the mean of as many repeats. The variance of a
    difference is v / (repeats · samples), where v is the share of pairs of repeats of which one is right and the other wrong;
    noise is taken to be independent from image to image.

    >>> from snellen.measure import accuracy_noise
    >>> round(accuracy_noise([[1, 1, 0, 1] * 25, [1, 1, 1, 1] * 25]), 3)
    0.069
    """
    scores = np.asarray(correct, np.float64)
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    repeats, samples = scores.shape
    if repeats < 2 or not samples:
        return nan
    return _Z * sqrt(float(_differing_pairs(scores).mean()) / (repeats * samples))


def _differing_pairs(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """[samples]: the share of pairs of repeats [repeats, samples] that differ."""
    alike = np.zeros(values.shape[1])
    for row in values:
        alike += (values == row).sum(axis=0)  # with itself once
    repeats = len(values)
    differing: NDArray[np.float64] = 1 - (alike - repeats) / (repeats * (repeats - 1))
    return differing
