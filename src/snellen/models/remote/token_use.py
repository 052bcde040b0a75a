"""How many tokens services have read and written, for those that count in tokens and say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MOST = 10**9  # tokens of one answer that are believed


@dataclass(frozen=True)
class TokenUse:
    """Tokens of so many `answers`: those that the service read (`input`) and wrote (`output`)."""

    answers: int = 0
    input: int = 0
    output: int = 0

    def __add__(self, other: TokenUse) -> TokenUse:
        return TokenUse(self.answers + other.answers, self.input + other.input, self.output + other.output)

    def times(self, count: int) -> TokenUse:
        """Those of so many times as many answers."""
        return TokenUse(self.answers * count, self.input * count, self.output * count)

    def cost(self, prices: tuple[float, float]) -> float:
        """What they cost, by the prices of a million tokens that are read and of a million that are written."""
        return (self.input * prices[0] + self.output * prices[1]) / 1e6


class TokenMeter(Protocol):
    """What knows the tokens of a service: those that an answer states, and those that an image of some pixels may need."""

    def used(self, answer: bytes) -> TokenUse | None: ...
    def expected(self, height: int, width: int) -> TokenUse: ...
