"""A row of the coverage table: what was promised, what simulations gave, and what the promise allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One case of one subject.

    `promise` says in words what should hold ("covers the truth 95% of the time"); `value` is what `simulations` datasets gave.
    `low` and `high` are the least and the most that the promise allows. A `share` is printed in percent with its binomial
    error, a `number` as it is.
    """

    subject: str
    case: str
    promise: str
    value: float
    low: float
    high: float
    simulations: int
    unit: Literal["share", "number"] = "share"

    @property
    def within(self) -> bool:
        """Whether the promise is kept, as far as so many datasets can tell: a share may miss it by two standard errors."""
        slack = 2 * max(self._error_at(self.low), self._error_at(self.high)) if self.unit == "share" else 0.0
        return self.low - slack <= self.value <= self.high + slack

    @property
    def error(self) -> float:
        """The standard error of a share."""
        return self._error_at(self.value)

    def _error_at(self, share: float) -> float:
        return float((share * (1 - share) / self.simulations) ** 0.5)
