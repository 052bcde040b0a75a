"""Carrying out a search: proposals in, fitness out, every evaluation kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.errors import UserError, option
from snellen.search.algorithms import Algorithm
from snellen.search.fitness import Edits, Fitness, evaluate
from snellen.search.history import Evaluation, History
from snellen.search.spaces import Genes, Space

Constraint = Callable[[Edits], bool]  # whether a tuple may be shown at all
Report = Callable[[int, float], None]


@dataclass(frozen=True)
class SearchResult:
    """What a search found: `best`, the edits under which the model does worst, and its fitness under them.

    `history` is every evaluation in its order. Where no tuple met the constraint `best` is empty and `value` nan.
    `images_shown` is what the fitness says it showed while searching; 0 where it does not say.
    """

    best: Edits
    value: float
    history: tuple[Evaluation, ...]
    images_shown: int = 0

    @property
    def evaluations(self) -> int:
        """How many tuples were proposed, those that did not meet a constraint or came again included."""
        return len(self.history)

    @property
    def minima(self) -> np.ndarray:
        """float [evaluations]: the lowest fitness so far; 1 before the first."""
        return np.minimum.accumulate(
            [1.0 if evaluation.value is None else evaluation.value for evaluation in self.history]
        )

    def passed(self, threshold: float) -> int | None:
        """After how many evaluations the fitness was at most the threshold; None where it never was."""
        below = np.flatnonzero(self.minima <= threshold)
        return int(below[0]) + 1 if len(below) else None


@dataclass(frozen=True)
class Search:
    """One search: which tuples, of how many edits, by which algorithm, from which seed; `at_once` are evaluated together.

    It ends early where the fitness is at most `stop`.
    """

    space: Space
    length: int
    algorithm: Algorithm
    seed: int = 0
    at_once: int = 16
    stop: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.length <= 1000:
            raise ValueError(f"expected a length from 1 to 1000 edits, got {self.length}")

    def facts(self) -> dict[str, object]:
        """What its proposals depend on."""
        levels = {transformation.name: list(transformation.levels) for transformation in self.space.transformations}
        facts = {"space": levels, "length": self.length, "algorithm": str(self.algorithm), "seed": self.seed}
        return {**facts, "versions": versions} if (versions := self.space.versions) else facts

    def run(
        self,
        fitness: Fitness,
        history: History | None = None,
        constraint: Constraint | None = None,
        report: Report | None = None,
    ) -> SearchResult:
        """Ask about every tuple that the algorithm proposes; those of the history are not asked about again.

        A tuple that comes again costs no call, and neither does one that does not meet the `constraint`: the algorithm hears
        that the model does perfectly under it. `report` hears the number of evaluations and the lowest fitness.
        """
        history = history or History(self.facts())
        before = getattr(fitness, "images_shown", 0)
        ask = _Asking(self, fitness, constraint, history)
        proposals = self.algorithm.propose(self.space, self.length, np.random.default_rng(self.seed))
        batch = next(proposals)
        while True:
            values: list[float] = []
            for start in range(0, len(batch), self.at_once):
                values += ask.about(batch[start : start + self.at_once])
                if report is not None:
                    report(ask.done, ask.lowest)
                if ask.lowest <= self.stop:
                    break
            try:
                if ask.lowest <= self.stop:
                    break
                batch = proposals.send(values)
            except StopIteration:
                break
        evaluations = history.evaluations[: ask.done]  # what stands behind them no proposal asked for
        feasible = [evaluation for evaluation in evaluations if evaluation.value is not None]
        best = min(feasible, key=lambda evaluation: evaluation.value or 0.0, default=Evaluation((), float("nan")))
        shown = getattr(fitness, "images_shown", 0) - before
        assert best.value is not None
        return SearchResult(best.edits, best.value, tuple(evaluations), shown)


class _Asking:
    """What is known while a search runs: the values of tuples, and how many evaluations are done."""

    def __init__(self, search: Search, fitness: Fitness, constraint: Constraint | None, history: History) -> None:
        self.space, self.fitness, self.constraint, self.history = search.space, fitness, constraint, history
        self.stored = tuple(history.evaluations)
        self.known: dict[Edits, float | None] = {}
        self.done = 0
        self.lowest = 1.0

    def about(self, part: Sequence[Genes]) -> list[float]:
        """The values that the algorithm hears of some tuples: 1 for those that may not be shown."""
        tuples = [self.space.texts(genes) for genes in part]
        waiting = deque(tuples)
        while waiting and self.done < len(self.stored):
            self._remember(waiting.popleft())
        fresh = [edits for edits in dict.fromkeys(waiting) if edits not in self.known]
        allowed = [edits for edits in fresh if self.constraint is None or self.constraint(edits)]
        self.known.update(dict.fromkeys(edits for edits in fresh if edits not in set(allowed)))
        self._keep_known(waiting)
        for edits, value in zip(allowed, evaluate(self.fitness, allowed)):
            self.known[edits] = value
            self._keep_known(waiting)
        known = [self.known[edits] for edits in tuples]
        values = [1.0 if value is None else value for value in known]
        self.lowest = min(self.lowest, *values)
        return values

    def _remember(self, edits: Edits) -> None:
        """Take the next stored evaluation, which must be of these edits and as they are known."""
        stored = self.stored[self.done]
        if stored.edits != edits or self.known.setdefault(edits, stored.value) != stored.value:
            source = self.history.path or "the history"
            raise UserError(f"{source} does not fit this search: its evaluation {self.done + 1} is another; remove it, or choose "
                            f"another {option('out')}")  # fmt: skip
        self.done += 1

    def _keep_known(self, waiting: deque[Edits]) -> None:
        """Keep the first evaluations of those that wait whose values are known, in the order of the proposals."""
        while waiting and waiting[0] in self.known:
            edits = waiting.popleft()
            self.history.add(Evaluation(edits, self.known[edits]))
            self.done += 1
