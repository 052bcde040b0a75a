"""How often a gate is right about planted models: simulated, with 1 and with many conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from snellen.check.changes import Changes
from snellen.check.condition import parse_condition
from snellen.check.deciding import decide
from snellen.engine.keep.gate_record import GateRecord

from .worlds import World, draw

CAUGHT = "a regression fails"


@dataclass(frozen=True)
class Tally:
    """Of so many planted pairs, how many a gate judged so; `drop` is what was planted."""

    world: World
    questions: int
    what: str
    drop: float
    count: int
    total: int

    @property
    def share(self) -> float:
        """The share of pairs."""
        return self.count / self.total

    @property
    def error(self) -> float:
        """The standard error of the simulation."""
        return float(np.sqrt(max(self.share * (1 - self.share), 1 / self.total) / self.total))

    @property
    def promise(self) -> str:
        """What the gate promises of this."""
        return "at least 80%" if self.what == CAUGHT else "at most 5%"

    @property
    def kept(self) -> bool:
        """Whether the promise is kept, but for two standard errors."""
        if self.what == CAUGHT:
            return self.share >= 0.8 - 2 * self.error
        return self.share <= 0.05 + 2 * self.error


def gate(world: World, questions: int, drop: float, condition: str, seed: tuple[int, ...]) -> GateRecord:
    """What a gate makes of one planted pair."""
    new, old = draw(world, questions, drop, np.random.default_rng(seed))
    changes = Changes(new, old, 0.02, False)  # type: ignore[arg-type]
    return decide([parse_condition(condition)], new, changes)  # type: ignore[arg-type]


def equal_models(world: World, questions: int, total: int, condition: str, what: str, drop: float = 0.0) -> Tally:
    """How often the gate is closed though no condition is broken."""
    closed = sum(not gate(world, questions, drop, condition, (seed, questions, 1)).passed for seed in range(total))
    return Tally(world, questions, what, drop, closed, total)


def stated_drop(world: World, questions: int, condition: str, total: int = 40) -> float:
    """The regression that the gate itself says it would mostly see: the median over planted pairs of equal models."""
    records = (gate(world, questions, 0.0, condition, (seed, questions, 2)) for seed in range(total))
    return float(np.median([record.outcomes[0].visible for record in records]))  # type: ignore[arg-type]


def regressions(world: World, questions: int, total: int, condition: str, stated: int = 40) -> Tally:
    """How often a regression of the stated size is caught, on the one question that it is on; `stated` pairs state it."""
    drop = stated_drop(world, questions, condition, stated)
    seen = (gate(world, questions, drop, condition, (seed, questions, 3)).outcomes[0] for seed in range(total))
    return Tally(world, questions, CAUGHT, drop, sum(o.state == "fails" for o in seen), total)


def wrongly_held(world: World, total: int, margin: float) -> Tally:
    """How often `no_worse` with a margin holds for a model that is worse by that margin."""
    condition = f"no_worse(accuracy, {margin})"
    seen = (gate(world, 1, margin, condition, (seed, 4)).outcomes[0] for seed in range(total))
    return Tally(world, 1, "worse by the margin, yet held", margin, sum(o.state == "holds" for o in seen), total)


def tallies(world: World, total: int) -> Iterator[Tally]:
    """All that is promised of one world."""
    for questions in (1, 20):
        yield equal_models(world, questions, total, "change(accuracy) >= 0", "equal models, closed")
        bound = f"accuracy >= {world.accuracy}"
        yield equal_models(world, questions, total, bound, "accuracy on the bound, closed")
        yield regressions(world, questions, total, "change(accuracy) >= 0")
    yield wrongly_held(world, total, 0.05)
