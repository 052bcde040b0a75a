"""A search for the edits under which a model does worst, as an audit asks for it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from snellen.distort import parse
from snellen.distort.law import expect_within
from snellen.engine.requests.search import Panel, SearchRequest
from snellen.hashing import key_of
from snellen.notation import text_form
from snellen.search.algorithms import Algorithm, Evolution, EvolutionThenClimb, RandomSearch
from snellen.search.constraint import parse_constraint
from snellen.search.feasible import Feasible
from snellen.search.history import History
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search
from snellen.search.spaces import GeneLaw, Space, space

Rule = Literal["difference", "inverse"]


@dataclass(frozen=True)
class EditSearch(SearchRequest):
    """Tuples of `length` edits of a `space`, by the `algorithm` `rs`, `es` or `es_climb`, asked about `evaluations` times on
    `images` of the images (0: all).

    `population`, `mutation` and `selection` are those of the evolution, `genes` the law by which edits are drawn; `restart`
    is the number of this search among several. A `constraint` such as `ssim(0.8)` keeps the content: tuples under which fewer
    than 95% of the images meet it are not shown. The table has a row per evaluation: `edits` and `value`, the accuracy, which
    is empty where the tuple was not shown.
    """

    space: str = "mnist"
    length: int = 3
    algorithm: Literal["rs", "es", "es_climb"] = "es"
    evaluations: int = 1000
    images: int = 1000
    population: int = 10
    mutation: float = 0.1
    selection: Rule = "difference"
    genes: GeneLaw = "type"
    restart: int = 0
    constraint: str | None = None
    MOST: ClassVar[int] = 10_000_000

    def __post_init__(self) -> None:
        expect_within("length", self.length, 1, 1000)
        expect_within("evaluations", self.evaluations, 1, self.MOST)
        expect_within("images", self.images, 0, 10**9)
        expect_within("restart", self.restart, 0, 999)
        if self.algorithm == "es" and self.evaluations < self.population:
            raise ValueError(
                f"expected at least as many evaluations as the population of {self.population}, got {self.evaluations}"
            )
        self.proposes()
        if self.constraint is not None:
            parse_constraint(self.constraint)

    __str__ = text_form

    @property
    def samples(self) -> int:
        return self.images

    @property
    def set(self) -> Space:
        """The space that is searched."""
        return space(self.space)

    @property
    def version(self) -> str:
        """The levels too: a space of the user's may change under its name. And what is no longer at its first version."""
        levels = [[transformation.name, *transformation.levels] for transformation in self.set.transformations]
        versions = self.set.versions
        if self.constraint is not None and (version := parse_constraint(self.constraint).version) != 1:
            versions = {**versions, "constraint": str(version)}
        return f"1 {key_of([levels, versions] if versions else levels)}"

    @property
    def needs(self) -> frozenset[str]:
        return _needs_of(tuple(text for transformation in self.set.transformations for text in transformation.levels))

    def proposes(self) -> Algorithm:
        """How its tuples are chosen."""
        if self.algorithm == "rs":
            return RandomSearch(self.evaluations, self.genes)
        if self.algorithm == "es":
            steps = self.evaluations // self.population - 1
            return Evolution(self.population, steps, self.mutation, self.selection, self.genes)
        return EvolutionThenClimb(self.evaluations, self.population, mutation=self.mutation, genes=self.genes)

    def seed_of(self, seed: int) -> int:
        """What its draws start from in a run of a seed."""
        return 1000 * seed + self.restart

    def run(
        self, panel: Panel, seed: int, journal: Path | None, report: Callable[[int], None]
    ) -> Sequence[Mapping[str, Any]]:
        fitness = ImageFitness(panel.images, panel.score, panel.view, panel.batch)
        search = Search(self.set, self.length, self.proposes(), self.seed_of(seed))
        facts = {**search.facts(), "request": str(self)}
        allowed = None
        if self.constraint is not None:
            allowed = Feasible(panel.images, panel.view, parse_constraint(self.constraint), batch=panel.batch)
        result = search.run(fitness, History(facts, journal), allowed, lambda done, lowest: report(done))
        return [
            {"evaluation": number, "edits": " | ".join(edits), "value": value}
            for number, (edits, value) in enumerate(result.history)
        ]


@dataclass(frozen=True)
class SubsetSearch(EditSearch):
    """The same search on other images: those that come after `subset` times as many, in the order of their hashes."""

    subset: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("subset", self.subset, 1, 999)
        if not self.images:
            raise ValueError("expected a number of images for each subset, got 0, which stands for all")

    @property
    def skipped(self) -> int:
        return self.subset * self.images

    def seed_of(self, seed: int) -> int:
        return super().seed_of(seed) + 1_000_000 * self.subset


@functools.lru_cache(maxsize=64)
def _needs_of(levels: tuple[str, ...]) -> frozenset[str]:
    """What some edits must know; a plan asks often, and a space has hundreds."""
    return frozenset().union(*(parse(text).needs for text in levels))
