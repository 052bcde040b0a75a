"""How much a model loses for how recognisable the picture stays: one search per budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snellen.search.feasible import Feasible
from snellen.search.fitness import Edits, Fitness
from snellen.search.run_search import Search


@dataclass(frozen=True)
class TradeOff:
    """What one search under a constraint came to.

    `budget` is what similarity an image must keep; `accuracy` the model's under the worst feasible `edits`, `similarity` the
    mean of the images under them (both nan where no tuple was feasible); `infeasible` the share of proposals that were not.
    """

    constraint: str
    budget: float
    accuracy: float
    similarity: float
    edits: Edits
    infeasible: float


def trade_off(search: Search, fitness: Fitness, constraints: Sequence[Feasible]) -> list[TradeOff]:
    """The same search under each of the constraints, in their order."""
    return [_under(search, fitness, one) for one in constraints]


def _under(search: Search, fitness: Fitness, constraint: Feasible) -> TradeOff:
    result = search.run(fitness, constraint=constraint)
    refused = sum(one.value is None for one in result.history)
    return TradeOff(
        str(constraint.constraint),
        constraint.constraint.at_least,
        result.value,
        constraint.similarity(result.best) if result.best else float("nan"),
        result.best,
        refused / result.evaluations,
    )
