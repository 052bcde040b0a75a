"""Families of tests: the p-values of one section are corrected together, and findings say over what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.measure import holm

SURE = 0.05  # the corrected p-value under which something is called clear


@dataclass(frozen=True)
class FamilyOfTests:
    """Corrected p-values in the order of the tests, how many there are (one without a p-value is none), and which, in words."""

    p: tuple[float, ...]
    tests: int
    words: str


def corrected(p: Sequence[float], what: str) -> FamilyOfTests:
    """The tests of a family, `what` they are in words, after Holm's correction."""
    values = holm(p)
    tests = int(np.sum(~np.isnan(values)))
    return FamilyOfTests(tuple(values.tolist()), tests, f"{tests} {'test' if tests == 1 else 'tests'} ({what})")
