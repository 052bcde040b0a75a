"""Search algorithms over tuples of transformations: each proposes tuples and hears how well a model does under them.

An algorithm is a generator of batches of tuples that receives their fitness values (lower is worse for the model, so
better for the search). It draws only from the generator it is given, so the same seed and the same values give the same
proposals: a stopped search continues by hearing its own history again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from snellen.distort.law import expect_within
from snellen.notation import text_form
from snellen.search.space import GeneLaw, Genes, Space

Proposals: TypeAlias = Generator[list[Genes], Sequence[float], None]


@dataclass(frozen=True)
class Algorithm(ABC):
    """How tuples are chosen; its text form is its identity."""

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """How many tuples it asks about at most."""

    @abstractmethod
    def propose(self, space: Space, length: int, random: np.random.Generator) -> Proposals:
        """Batches of tuples; each `yield` receives the fitness of its tuples, in their order."""

    __str__ = text_form


@dataclass(frozen=True)
class RandomSearch(Algorithm):
    """Independent random tuples (Volpi & Murino 2019, algorithm 1).

    `tries` is their number; `genes` the law of a gene: by `type`, then level, or by `object`.
    """

    tries: int = 1000
    genes: GeneLaw = "type"

    def __post_init__(self) -> None:
        expect_within("tries", self.tries, 1, 10_000_000)

    @property
    def evaluations(self) -> int:
        return self.tries

    def propose(self, space: Space, length: int, random: np.random.Generator) -> Proposals:
        yield [space.draw(random, length, self.genes) for _ in range(self.tries)]


@dataclass(frozen=True)
class Evolution(Algorithm):
    """An evolution strategy (Volpi & Murino 2019, algorithm 2): pairs of parents, one crossover, mutations, no elitism.

    `population` is even; after the first one there are `steps` more, so population · (steps + 1) tuples are asked about. Parents
    are drawn in proportion to 1 − fitness (`difference`, as the published code does) or to 1 / fitness (`inverse`, as the paper
    says). Each gene mutates with probability `mutation`. It ends early where a tuple reaches 0.
    """

    population: int = 10
    steps: int = 99
    mutation: float = 0.1
    selection: Literal["difference", "inverse"] = "difference"
    genes: GeneLaw = "type"

    def __post_init__(self) -> None:
        expect_within("population", self.population, 2, 100_000)
        expect_within("steps", self.steps, 0, 10_000_000)
        expect_within("mutation", self.mutation, 0, 1)
        if self.population % 2:
            raise ValueError(f"expected an even population, got {self.population}")

    @property
    def evaluations(self) -> int:
        return self.population * (self.steps + 1)

    def propose(self, space: Space, length: int, random: np.random.Generator) -> Proposals:
        people = [space.draw(random, length, self.genes) for _ in range(self.population)]
        for step in range(self.steps + 1):
            fitness = np.asarray((yield people), np.float64)
            if step == self.steps or fitness.min() == 0:
                return
            people = self._next(people, fitness, space, random)

    def _next(self, people: list[Genes], fitness: np.ndarray, space: Space, random: np.random.Generator) -> list[Genes]:
        """The next population: child p of each pair in the first half, its sibling in the second."""
        weights = selection_weights(fitness, self.selection)
        half = self.population // 2
        first, second = random.choice(len(people), (2, half), p=weights)
        cuts = random.integers(0, len(people[0]), half)
        pairs = [(people[a], people[b], int(cut)) for a, b, cut in zip(first, second, cuts)]
        children = [a[:cut] + b[cut:] for a, b, cut in pairs] + [b[:cut] + a[cut:] for a, b, cut in pairs]
        return [
            tuple(space.draw_gene(random, self.genes) if random.random() < self.mutation else gene for gene in child)
            for child in children
        ]


def selection_weights(fitness: np.ndarray, rule: Literal["difference", "inverse"]) -> np.ndarray:
    """The chance of each tuple to be a parent; all alike where the rule tells none apart."""
    weights = 1 - fitness if rule == "difference" else 1 / np.maximum(fitness, 1e-6)
    weights = np.clip(weights, 0, None)
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(fitness), 1 / len(fitness))


@dataclass(frozen=True)
class EvolutionThenClimb(Algorithm):
    """Evolution, then a climb from its best tuple: one gene or one level is changed at a time, and what is worse for the
    model stays.

    `share` of the `tries` goes to the evolution. The climb asks about `batch` neighbours at once: half of them move one
    level by a few places, half replace one gene; where a whole round brings nothing it goes on from the second best, and so on.
    """

    tries: int = 1000
    population: int = 10
    share: float = 0.5
    mutation: float = 0.1
    batch: int = 10
    genes: GeneLaw = "type"

    def __post_init__(self) -> None:
        expect_within("tries", self.tries, 1, 10_000_000)
        expect_within("share", self.share, 0, 1)
        expect_within("batch", self.batch, 1, 100_000)

    @property
    def evaluations(self) -> int:
        return self.tries

    def propose(self, space: Space, length: int, random: np.random.Generator) -> Proposals:
        values: dict[Genes, float] = {}
        steps = max(0, int(self.tries * self.share) // self.population - 1)
        evolution = Evolution(self.population, steps, self.mutation, genes=self.genes)
        spent = yield from _listen(evolution.propose(space, length, random), values)
        stale: set[Genes] = set()
        while spent < self.tries and min(values.values()) > 0:
            fresh = [one for one in values if one not in stale] or list(values)
            best = min(fresh, key=values.__getitem__)
            around = [self._neighbour(best, number, space, random) for number in range(self.batch)]
            questions = [one for one in dict.fromkeys(around) if one not in values][: self.tries - spent]
            if not questions:
                stale.add(best)
                questions = [space.draw(random, length, self.genes)]
            heard = yield questions
            spent += len(questions)
            if min(heard) >= values[best]:
                stale.add(best)
            values.update(zip(questions, heard))

    def _neighbour(self, genes: Genes, number: int, space: Space, random: np.random.Generator) -> Genes:
        """The tuple with one level moved, or one gene replaced."""
        place = int(random.integers(len(genes)))
        kind, level = genes[place]
        count = len(space.transformations[kind].levels)
        if number % 2 and count > 1:
            reach = max(1, count // 4)
            moved = level + int(random.choice([-1, 1])) * int(random.integers(1, reach + 1))
            gene = (kind, int(np.clip(moved, 0, count - 1)))
        else:
            gene = space.draw_gene(random, self.genes)
        return (*genes[:place], gene, *genes[place + 1 :])


def _listen(proposals: Proposals, values: dict[Genes, float]) -> Generator[list[Genes], Sequence[float], int]:
    """Pass a search's proposals on and keep the values it hears; how many there were."""
    spent, batch = 0, next(proposals)
    while True:
        heard = yield batch
        values.update(zip(batch, heard))
        spent += len(batch)
        try:
            batch = proposals.send(heard)
        except StopIteration:
            return spent


ALGORITHMS: dict[str, type[Algorithm]] = {
    "rs": RandomSearch,
    "es": Evolution,
    "es_climb": EvolutionThenClimb,
}
