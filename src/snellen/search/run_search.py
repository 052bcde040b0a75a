"""Carrying out a search: proposals in, fitness out, every evaluation kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.errors import UserError
from snellen.search.algorithms import Algorithm
from snellen.search.history import History
from snellen.search.space import Genes, Space

Fitness = Callable[[Sequence[Genes]], Sequence[float]]  # of several tuples at once
TRIES = 3  # of an evaluation that raises, such as a call over a network


@dataclass(frozen=True)
class Outcome:
    """What a search found: its worst tuple for the model, the fitness under it, and all evaluations in their order."""

    genes: Genes
    value: float
    evaluations: tuple[tuple[Genes, float], ...]

    @property
    def minima(self) -> np.ndarray:
        """float [evaluations]: the lowest fitness so far."""
        return np.minimum.accumulate([value for _, value in self.evaluations])

    def passed(self, threshold: float) -> int | None:
        """After how many evaluations the fitness was at most the threshold; None where it never was."""
        below = np.flatnonzero(self.minima <= threshold)
        return int(below[0]) + 1 if len(below) else None


@dataclass(frozen=True)
class Search:
    """One search: which tuples, of how many edits, by which algorithm, from which seed; `at_once` are evaluated together."""

    space: Space
    length: int
    algorithm: Algorithm
    seed: int = 0
    at_once: int = 16

    def facts(self) -> dict[str, object]:
        """What its proposals depend on."""
        levels = {one.name: list(one.levels) for one in self.space.transformations}
        return {"space": levels, "length": self.length, "algorithm": str(self.algorithm), "seed": self.seed}

    def run(
        self, fitness: Fitness, history: History | None = None, report: Callable[[int, float], None] | None = None
    ) -> Outcome:
        """Ask about every tuple that the algorithm proposes; those of the history are not asked about again.

        A tuple that comes again costs no call. `report` hears the number of evaluations and the lowest fitness.
        """
        history = history or History(self.facts())
        stored = list(history.evaluations)
        known = dict(stored)
        proposals = self.algorithm.propose(self.space, self.length, np.random.default_rng(self.seed))
        batch, done = next(proposals), 0
        while True:
            values: list[float] = []
            for start in range(0, len(batch), self.at_once):
                part = batch[start : start + self.at_once]
                fresh = [one for one in dict.fromkeys(part) if one not in known]
                known.update(zip(fresh, evaluate(fitness, fresh)))
                for genes in part:
                    if done >= len(stored):
                        history.add(genes, known[genes])
                    elif stored[done][0] != genes:
                        raise UserError("the history does not fit this search; choose another --out")
                    done += 1
                    values.append(known[genes])
                if report is not None:
                    report(done, min(known.values()))
            try:
                batch = proposals.send(values)
            except StopIteration:
                break
        genes, value = min(history.evaluations, key=lambda one: one[1])
        return Outcome(genes, value, tuple(history.evaluations))


def evaluate(fitness: Fitness, tuples: Sequence[Genes]) -> list[float]:
    """The fitness of some tuples; what raises is tried again, then told with what to do. Values must lie in 0 … 1."""
    if not tuples:
        return []
    for turn in range(1, TRIES + 1):
        try:
            values = [float(value) for value in fitness(tuples)]
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
