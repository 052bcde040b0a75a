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
from snellen.search.spaces import Gene, GeneLaw, Genes, Space

Proposals: TypeAlias = Generator[list[Genes], Sequence[float], None]
PATIENCE = 50  # draws for each new tuple


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
    """Random tuples, then an evolution that only climbs: children of the `population` best so far, with a change or two each.

    `share` of the `tries` are independent tuples; then `batch` new ones are asked about at once. A parent is the better placed
    the likelier; half of the children have two, each gene from either. A change moves one level by a few places, replaces one
    gene, or swaps two; `mutation` is the chance of each further change. Nothing good is ever lost, and no tuple is asked about
    twice. The best have one tuple of each combination of transformations, so that the climb does not end on the first hill.
    """

    tries: int = 1000
    population: int = 10
    share: float = 0.1
    mutation: float = 0.1
    batch: int = 10
    genes: GeneLaw = "type"

    def __post_init__(self) -> None:
        expect_within("tries", self.tries, 1, 10_000_000)
        expect_within("population", self.population, 1, 100_000)
        expect_within("share", self.share, 0, 1)
        expect_within("mutation", self.mutation, 0, 0.9)
        expect_within("batch", self.batch, 1, 100_000)

    @property
    def evaluations(self) -> int:
        return self.tries

    def propose(self, space: Space, length: int, random: np.random.Generator) -> Proposals:
        start = [space.draw(random, length, self.genes) for _ in range(max(1, int(self.tries * self.share)))]
        values = dict(zip(start, (yield start)))
        spent = len(start)
        while spent < self.tries and min(values.values()) > 0:
            best = _elite(values, self.population)
            children: dict[Genes, None] = {}
            wanted = min(self.batch, self.tries - spent)
            for _ in range(PATIENCE * wanted):
                if len(children) == wanted:
                    break
                child = self._child(best, space, random)
                if child not in values:
                    children[child] = None
            questions = list(children) or [space.draw(random, length, self.genes)]  # all around the best is known
            values.update(zip(questions, (yield questions)))
            spent += len(questions)

    def _child(self, best: list[Genes], space: Space, random: np.random.Generator) -> Genes:
        """A tuple near the best ones."""
        genes = list(_parent(best, random))
        if random.random() < 0.5:
            other = _parent(best, random)
            genes = [own if random.random() < 0.5 else its for own, its in zip(genes, other)]
        while True:
            self._change(genes, space, random)
            if random.random() >= self.mutation:
                return tuple(genes)

    def _change(self, genes: list[Gene], space: Space, random: np.random.Generator) -> None:
        """Half the time another level, else mostly another gene, seldom another order."""
        place, chance = int(random.integers(len(genes))), random.random()
        kind, level = genes[place]
        count = len(space.transformations[kind].levels)
        if chance < 0.5 and count > 1:
            way = int(random.choice([-1, 1])) * int(random.integers(1, max(1, count // 4) + 1))
            genes[place] = (kind, int(np.clip(level + way, 0, count - 1)))
        elif chance < 0.6:
            other = int(random.integers(len(genes)))
            genes[place], genes[other] = genes[other], genes[place]
        else:
            genes[place] = space.draw_gene(random, self.genes)


def _elite(values: dict[Genes, float], count: int) -> list[Genes]:
    """The best tuples, each of other transformations, whatever their order and levels."""
    elite: dict[tuple[int, ...], Genes] = {}
    for genes in sorted(values, key=values.__getitem__):
        elite.setdefault(tuple(sorted(kind for kind, _ in genes)), genes)
        if len(elite) == count:
            break
    return list(elite.values())


def _parent(best: list[Genes], random: np.random.Generator) -> Genes:
    """One of the best, which are sorted: the square of a uniform draw is small more often than large."""
    return best[int(len(best) * random.random() ** 2)]


ALGORITHMS: dict[str, type[Algorithm]] = {
    "rs": RandomSearch,
    "es": Evolution,
    "es_climb": EvolutionThenClimb,
}
