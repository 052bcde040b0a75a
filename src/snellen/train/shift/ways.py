"""The settings of RDA, RSDA and ESDA, as texts name them."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.notation import build, expect_at_most, read, text_form

if TYPE_CHECKING:
    from snellen.search.algorithms import Algorithm
    from snellen.search.spaces import GeneLaw, Space
else:  # the search is imported where a text asks for it: --help reads recipes
    GeneLaw = Literal["type", "object"]

KNOWN = frozenset({"mean"})  # what edits may know of training images
MOST = 10**9


@dataclass(frozen=True)
class Rda:
    """Random tuples of edits: a fresh one per batch, no search.

    `set` is what tuples are made of, `length` their number of edits, `genes` the law of an edit: by `type`, then level, as the
    published code draws, or by `object`. `unit` is what gets a tuple of its own: the whole `batch`, as in the published code,
    or each `sample`, as algorithm 3 is written; between them `parts`, so many parts of a batch, which cost less than samples.
    """

    set: str = "cifar10"
    length: int = 5
    unit: Literal["batch", "sample"] = "batch"
    genes: GeneLaw = "type"
    parts: int = 1

    def __post_init__(self) -> None:
        _expect_from(1, 1000, length=self.length)
        _expect_from(1, 10**6, parts=self.parts)
        if self.unit == "sample" and self.parts != 1:
            raise ValueError(f"expected unit=batch with parts={self.parts}: samples are the smallest parts there are")
        self.space()

    def __str__(self) -> str:
        return text_form(self)

    def space(self) -> Space:
        """What tuples are made of; UserError where a training cannot show its edits."""
        return space_of(self.set)

    @property
    def fingerprint(self) -> str | None:
        """What tells a user's set from another of that name; None for the published ones."""
        from snellen.search.spaces import SPACES

        if self.set in SPACES:
            return None
        return key_of([list(transformation.levels) for transformation in self.space().transformations])


@dataclass(frozen=True)
class Searching(Rda, ABC):
    """Algorithm 3: the training set of tuples begins with the identity, and each search appends the worst tuple it finds.

    A search follows every `every` epochs, or every `updates` updates where that is given; there are at most `searches`, or as
    many as the training has room for. It shows the network `images` of the training images, drawn once from the seed.
    `duplicates`: a tuple that comes again counts again when one is drawn (`keep`), or not (`merge`). `start` is a stored
    set to begin with, `….transformations.json`; its tuples are drawn from the first batch on.
    """

    every: int = 5
    updates: int | None = None
    searches: int | None = None
    images: int = 2000
    duplicates: Literal["keep", "merge"] = "keep"
    start: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect_from(1, MOST, every=self.every, images=self.images)
        _expect_from(1, MOST, **{"updates": self.updates} if self.updates is not None else {})
        _expect_from(0, MOST, **{"searches": self.searches} if self.searches is not None else {})
        self.algorithm()

    @abstractmethod
    def algorithm(self) -> Algorithm:
        """How a tuple is searched for."""

    def period(self, per_epoch: int) -> int:
        """Updates from one search to the next, J in algorithm 3."""
        return self.updates or self.every * per_epoch

    def searches_in(self, updates: int, per_epoch: int) -> int:
        """How many searches a training has, H in algorithm 3."""
        room = updates // self.period(per_epoch)
        return room if self.searches is None else min(room, self.searches)

    def hold(self, per_epoch: int) -> int:
        """Updates before the rate may decay: every search, the last one included, is followed by a period at the full rate."""
        return ((self.searches or 0) + 1) * self.period(per_epoch)


@dataclass(frozen=True)
class Rsda(Searching):
    """RSDA: each search is a random one of `evaluations` tuples."""

    evaluations: int = 100

    def algorithm(self) -> Algorithm:
        from snellen.search.algorithms import RandomSearch

        return RandomSearch(self.evaluations, self.genes)


@dataclass(frozen=True)
class Esda(Searching):
    """ESDA: each search is an evolution of `population` tuples over `steps` generations after the first; `mutation` and
    `selection` are those of `snellen.search.algorithms.Evolution`."""

    population: int = 10
    steps: int = 10
    mutation: float = 0.1
    selection: Literal["difference", "inverse"] = "difference"

    def algorithm(self) -> Algorithm:
        from snellen.search.algorithms import Evolution

        return Evolution(self.population, self.steps, self.mutation, self.selection, self.genes)


SHIFTS: dict[str, type[Rda]] = {"rda": Rda, "rsda": Rsda, "esda": Esda}


def parse_shift(text: str) -> Rda:
    """The way that a text such as `esda(set=cifar10, length=5)` names."""
    way: Rda = build(read(text), SHIFTS, "way of training")
    return way


def space_of(name: str) -> Space:
    """The set of transformations of a name, every edit of which a training can show."""
    from snellen.search.spaces import space

    chosen = space(name)
    for transformation in chosen.transformations:
        for level in transformation.levels:
            check_edit(level, f"set '{name}'")
    return chosen


@functools.lru_cache(maxsize=4096)
def check_edit(text: str, source: str) -> None:
    """Refuse a text that is not one edit which a training can show."""
    from snellen.distort import Chain, parse

    try:
        edit = parse(text)
    except UserError as error:
        raise UserError(f"{source}: {error}") from None
    if isinstance(edit, Chain):
        raise UserError(f"{source}: expected one edit, got the chain '{text}'; list its parts one by one")
    foreign = edit.needs - KNOWN
    if foreign:
        raise UserError(f"{source}: '{text}' needs {min(foreign)}, which a training does not give")


def _expect_from(least: int, most: int, **values: int) -> None:
    for name, value in values.items():
        if not value >= least:
            raise ValueError(f"expected {name} of at least {least}, got {value}")
    expect_at_most(most, **values)
