"""What a search asks: how well a model does under a tuple of edits, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from snellen.errors import UserError

Edits: TypeAlias = tuple[str, ...]  # the texts of distortions, from left to right
Fitness: TypeAlias = Callable[[Edits], float]
TRIES = 3  # of an evaluation that raises, such as a call over a network


@runtime_checkable
class FitnessOfMany(Protocol):
    """A fitness that answers several tuples at once, on all samples or on those of some rows."""

    def __call__(self, edits: Edits, /) -> float: ...
    def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> Sequence[float]: ...


def evaluate(fitness: Fitness, tuples: Sequence[Edits]) -> list[float]:
    """The fitness of some tuples; what raises is tried again, then told with what to do. Values must lie in 0 … 1."""
    if not tuples:
        return []
    for turn in range(1, TRIES + 1):
        try:
            answers = fitness.many(tuples) if isinstance(fitness, FitnessOfMany) else map(fitness, tuples)
            values = [float(value) for value in answers]
            break
        except UserError:
            raise
        except Exception as error:  # whatever a user's model raises
            if turn == TRIES:
                reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                raise UserError(
                    f"the fitness failed {TRIES} times ({type(error).__name__}: {reason}); fix the model and run the same "
                    "command again; it resumes"
                ) from error
    if len(values) != len(tuples):
        raise UserError(f"expected one fitness per tuple ({len(tuples)}), got {len(values)}")
    for value in values:
        if not 0 <= value <= 1:
            raise UserError(f"expected a fitness from 0 to 1, got {value}")
    return values
