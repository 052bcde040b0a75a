"""The mean of accuracies on several datasets."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, nan, sqrt

from snellen.measure.estimate import NO_DATA, Estimate


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates, each of the same weight however many samples stand behind it.

    Its interval follows from theirs (Zou & Donner 2008, MOVER): below the mean by the root of the summed squares of what each
    lies above its own lower end, divided by their number; likewise above. `n` is the number of all samples. Where one has no
    data there is no mean; where one has no interval there is none.
    """
    if not estimates or any(one.n == 0 for one in estimates):
        return NO_DATA
    count = len(estimates)
    value = fsum(one.value for one in estimates) / count
    below = sqrt(fsum((one.value - one.low) ** 2 for one in estimates)) / count
    above = sqrt(fsum((one.high - one.value) ** 2 for one in estimates)) / count
    samples = sum(one.n for one in estimates)
    if below != below or above != above:
        return Estimate(value, nan, nan, samples)
    return Estimate(value, value - below, value + above, samples)
