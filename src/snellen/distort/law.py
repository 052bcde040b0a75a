"""Laws: a parameter drawn for each sample, such as `uniform(0.7, 1)`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.notation import format_value, text_form

SMALLEST, LARGEST = 1e-6, 1e6  # parameters of laws: beyond them the beta distribution is a coin, or a constant


@dataclass(frozen=True)
class Uniform:
    """Uniform between `low` and `high`."""

    low: float
    high: float

    __str__ = text_form

    def __post_init__(self) -> None:
        if not -LARGEST <= self.low <= self.high <= LARGEST:
            raise ValueError(f"expected finite numbers low ≤ high, got {self.low:g} and {self.high:g}")

    def quantile(self, u: np.ndarray) -> np.ndarray:
        """The value that a share u of draws stays below, for each u."""
        return self.low + (self.high - self.low) * u

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return self.low, self.high


@dataclass(frozen=True)
class Beta:
    """Beta(a, b) on 0 to 1."""

    a: float
    b: float

    __str__ = text_form

    def __post_init__(self) -> None:
        if not (SMALLEST <= self.a <= LARGEST and SMALLEST <= self.b <= LARGEST):
            raise ValueError(f"expected a and b from {SMALLEST:g} to {LARGEST:g}, got {self.a:g} and {self.b:g}")

    def quantile(self, u: np.ndarray) -> np.ndarray:
        """The value that a share u of draws stays below, for each u."""
        from scipy.special import betaincinv

        return betaincinv(self.a, self.b, u)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return 0.0, 1.0


Law = Uniform | Beta
LAWS: dict[str, type] = {"uniform": Uniform, "beta": Beta}


def expect_within(name: str, value: float | Law, low: float, high: float) -> None:
    """Raise unless the number, or every value of the law, lies in [low, high]."""
    least, most = value.range if isinstance(value, Uniform | Beta) else (value, value)
    if not (low <= least and most <= high):
        raise ValueError(f"expected {name} in [{low:g}, {high:g}], got {format_value(value)}")


def percent_in_words(value: float | Law) -> str:
    """A share as a report says it: `30%`, `70–100%`, `a drawn share`."""
    return f"{numbers}%" if (numbers := in_numbers(value, 100)) else "a drawn share"


def in_numbers(value: float | Law, scale: float = 1) -> str:
    """A number times the scale, or the ends of a uniform law; "" for a law whose ends say little."""
    if isinstance(value, Uniform):
        between = "–" if value.low >= 0 else " to "  # a dash beside a minus reads as one
        return f"{scale * value.low:g}{between}{scale * value.high:g}".replace("-", "−")
    return "" if isinstance(value, Beta) else f"{scale * value:g}"
