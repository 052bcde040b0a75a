"""What a search asks: how well a model does under a tuple of edits, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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


@runtime_checkable
class FitnessOfEach(FitnessOfMany, Protocol):
    """One that gives each fitness as soon as it is known."""

    def each(self, tuples: Sequence[Edits]) -> Iterator[float]: ...


def evaluate(fitness: Fitness, tuples: Sequence[Edits]) -> Iterator[float]:
    """The fitness of some tuples, each as soon as it is known.

    Where some are asked about at once and that raises, the rest is asked about one by one, each of them three times at most.
    """
    known = 0
    if len(tuples) > 1 and isinstance(fitness, FitnessOfMany):
        for value in _together(fitness, tuples):
            known += 1
            yield value
    for edits in tuples[known:]:
        yield _alone(fitness, edits)


def _together(fitness: FitnessOfMany, tuples: Sequence[Edits]) -> Iterator[float]:
    """The fitness of the first tuples: of all, or up to the one that raises."""
    values = 0
    try:
        for value in fitness.each(tuples) if isinstance(fitness, FitnessOfEach) else _all_of(fitness, tuples):
            yield _checked(value)
            values += 1
    except UserError:
        raise
    except Exception:  # whatever a user's model raises; the one that does is asked about again, alone
        return
    if values != len(tuples):
        raise _unequal(len(tuples), values)


def _all_of(fitness: FitnessOfMany, tuples: Sequence[Edits]) -> Sequence[float]:
    values = list(fitness.many(tuples))
    if len(values) != len(tuples):
        raise _unequal(len(tuples), len(values))
    return values


def _alone(fitness: Fitness, edits: Edits) -> float:
    """The fitness of one tuple; what raises is tried again, then told with what to do."""
    for turn in range(1, TRIES + 1):
        try:
            return _checked(fitness(edits))
        except UserError:
            raise
        except Exception as error:  # whatever a user's model raises
            if turn == TRIES:
                reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                raise UserError(
                    f"the fitness failed {TRIES} times ({type(error).__name__}: {reason}); fix the model and run the same "
                    "command again; it resumes"
                ) from error
    raise AssertionError("unreachable")


def _checked(value: float) -> float:
    number = float(value)
    if not 0 <= number <= 1:
        raise UserError(f"expected a fitness from 0 to 1, got {number}")
    return number


def _unequal(wanted: int, got: int) -> UserError:
    return UserError(f"expected one fitness per tuple ({wanted}), got {got}")
