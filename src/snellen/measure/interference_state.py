"""Whether a distortion's interference stands clearly above chance and above mild noise, clearly not, or cannot be told."""

from __future__ import annotations

from math import hypot, isfinite
from typing import Literal

from snellen.measure.estimate import Estimate

State = Literal["above", "unclear", "not above"]
NEGLIGIBLE = 0.25  # an index of 1: one class gains as many errors as it would have if all were spread evenly
ALPHA = 0.05


def state_of(index: Estimate, yardstick: Estimate, p: float) -> State:
    """Where an index stands, from its interval, that of the yardstick and its p for errors thrown at random.

    - `above`: the interval lies above 0, p is below 0.05, and so is 0 below the interval of the difference to the yardstick
    - `not above`: even the upper end is no more than the yardstick's index, or negligible
    - `unclear`: neither, or nothing to compare with (no interval, no p: as with two classes)
    """
    if not (isfinite(index.low) and isfinite(yardstick.low) and isfinite(p)):
        return "unclear"
    if index.low > 0 and p < ALPHA and least_difference(index, yardstick) > 0:
        return "above"
    return "not above" if index.high <= max(yardstick.value, NEGLIGIBLE) else "unclear"


def least_difference(one: Estimate, two: Estimate) -> float:
    """The lower end of the 95% interval of a difference, from the two intervals (Donner & Zou 2012, MOVER).

    The two count as independent. Two distortions of the same images are not, but share their clean errors: their
    difference varies less, so the true end is rather higher.
    """
    return one.value - two.value - hypot(one.value - one.low, two.high - two.value)
