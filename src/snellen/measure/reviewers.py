"""Whether two reviewers decide alike, beyond what chance would give: Cohen's kappa (Cohen 1960)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import bootstrap_interval
from snellen.measure.estimate import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReviewerAgreement(Estimate):
    """`value` is kappa, 1 for full agreement and 0 for that of chance; `observed` the share of images that both decide alike and
    `expected` what it would be had each decided as often so, but independently. `n` counts the images both have decided.

    kappa is nan where chance agrees always, as where both decide alike on every image: then nothing could have told them apart.
    """

    observed: float
    expected: float


def reviewer_agreement(first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None) -> ReviewerAgreement:
    """κ = (p_o − p_e) / (1 − p_e) of two reviewers' decisions on the same images, [images] each, texts or numbers.

    The 95% interval is a bootstrap over images, or over `groups` of them such as clips; a resample in which kappa is not defined
    counts as the value. Every image needs a decision of both.

    >>> from snellen.measure import reviewer_agreement
    >>> reviewer_agreement(["accept", "accept", "reject", "reject"], ["accept", "reject", "reject", "reject"]).value
    0.5
    """
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"expected two decisions per image, got {a.shape} and {b.shape}")
    if not len(a):
        return ReviewerAgreement(nan, nan, nan, 0, nan, nan)
    _, numbers = np.unique(np.concatenate([a.astype(str), b.astype(str)]), return_inverse=True)
    count = int(numbers.max()) + 1
    pairs = numbers[: len(a)] * count + numbers[len(a) :]
    columns = np.eye(count * count)[pairs]
    observed, expected = (float(share[0]) for share in _shares(columns.sum(0, keepdims=True), count))
    value = nan if expected == 1 else (observed - expected) / (1 - expected)

    def kappa(sums: Floats) -> Floats:
        agreed, by_chance = _shares(sums, count)
        room = 1 - by_chance
        return np.divide(agreed - by_chance, room, out=np.full(len(sums), value), where=room > 0)

    low, high = (nan, nan) if expected == 1 else bootstrap_interval(columns, kappa, groups, bounds=(-1.0, 1.0))
    return ReviewerAgreement(value, low, high, len(a), observed, expected)


def _shares(sums: Floats, count: int) -> tuple[Floats, Floats]:
    """Of tables [m, count²] of how often each pair of decisions was met: the share that agrees, and that by chance, [m]."""
    tables = sums.reshape(-1, count, count)
    total = tables.sum((1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / total
    return observed, (tables.sum(1) * tables.sum(2)).sum(1) / total**2
