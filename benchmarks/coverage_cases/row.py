"""A row of the coverage table: what was promised, what simulations gave, and what the promise allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One case of one subject.

    `promise` says in words what should hold ("covers the truth 95% of the time"); `value` is what `simulations` datasets gave.
    `low` and `high` are the least and the most that the promise allows. A `share` is printed in percent with its binomial
    error, a `number` with the standard error it comes with.
    """

    subject: str
    case: str
    promise: str
    value: float
    low: float
    high: float
    simulations: int
    unit: Literal["share", "number"] = "share"
    number_error: float = 0.0

    @property
    def within(self) -> bool:
        """Whether the promise is kept, as far as so many datasets can tell: it may be missed by two standard errors."""
        slack = 2 * max(self._error_at(self.low), self._error_at(self.high))
        return self.low - slack <= self.value <= self.high + slack

    @property
    def error(self) -> float:
        """The standard error."""
        return self._error_at(self.value)

    def _error_at(self, share: float) -> float:
        return self.number_error if self.unit == "number" else float((share * (1 - share) / self.simulations) ** 0.5)


def median_error(values: Sequence[float]) -> float:
    """The standard error of a median, whatever the law: half the distance between the values √n / 2 places from it."""
    ordered, half = sorted(values), len(values) ** 0.5 / 2
    first, last = int(len(ordered) / 2 - half), min(len(ordered) - 1, round(len(ordered) / 2 + half))
    return (ordered[last] - ordered[max(0, first)]) / 2
