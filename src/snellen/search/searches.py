"""Searches as functions, for any fitness: a model, a service, a detector, or a formula."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from snellen.files.plain import place_to_write
from snellen.search.algorithms import Algorithm, Evolution, RandomSearch
from snellen.search.fitness import Fitness
from snellen.search.history import History
from snellen.search.identity import identity_of
from snellen.search.run_search import Constraint, Search, SearchResult
from snellen.search.spaces import GeneLaw, Space
from snellen.search.spaces import space as space_of


def random_search(
    fitness: Fitness,
    space: Space | str,
    length: int = 3,
    evaluations: int = 1000,
    seed: int = 0,
    *,
    sampling: GeneLaw = "type",
    constraint: Constraint | None = None,
    stop: float = 0.0,
    checkpoint: str | Path | None = None,
) -> SearchResult:
    """The worst of random tuples of edits (Volpi & Murino 2019, algorithm 1).

    `fitness` maps a tuple of texts, such as `("brightness(0.8)", "red(-30)")`, to 0 … 1, where lower is worse for the model; it
    may offer `many(tuples, samples=None)`. `sampling` is the law of an edit: first its `type`, or any `object` alike. `stop`
    ends the search at so low a fitness. `checkpoint` is a file that keeps every evaluation: the same call continues it, and one
    with another model, data, fitness or constraint is refused (`search.identity.identity_of` says how they are known).

    >>> from snellen.search import fitness_of, random_search
    >>> right = fitness_of("observer:shape", "phantom:test?size=32&n=24")
    >>> found = random_search(right, "mnist", length=1, evaluations=5)
    >>> found.value <= right(()), len(found.history)
    (True, 5)
    """
    algorithm = RandomSearch(evaluations, sampling)
    return _search([Search(_space(space), length, algorithm, seed, stop=stop)], fitness, constraint, checkpoint)


def evolution_search(
    fitness: Fitness,
    space: Space | str,
    length: int = 3,
    population: int = 10,
    generations: int = 99,
    mutation: float = 0.1,
    seed: int = 0,
    *,
    sampling: GeneLaw = "type",
    selection: Literal["difference", "inverse"] = "difference",
    constraint: Constraint | None = None,
    restarts: int = 1,
    stop: float = 0.0,
    checkpoint: str | Path | None = None,
) -> SearchResult:
    """The worst tuple of edits that an evolution finds (Volpi & Murino 2019, algorithm 2), of `restarts` evolutions.

    It asks population · (generations + 1) times per restart. `selection` draws parents by 1 − fitness (`difference`, as the
    published code does) or by 1 / fitness (`inverse`, as the paper says). All else is as in `random_search`.

    >>> from snellen.search import evolution_search, fitness_of
    >>> right = fitness_of("observer:shape", "phantom:test?size=32&n=24")
    >>> found = evolution_search(right, "mnist", length=1, population=4, generations=2)
    >>> found.value <= right(())
    True
    """
    algorithm = Evolution(population, generations, mutation, selection, sampling)
    return search(
        fitness,
        space,
        algorithm,
        length,
        seed,
        constraint=constraint,
        restarts=restarts,
        stop=stop,
        checkpoint=checkpoint,
    )


def search(
    fitness: Fitness,
    space: Space | str,
    algorithm: Algorithm,
    length: int = 3,
    seed: int = 0,
    *,
    constraint: Constraint | None = None,
    restarts: int = 1,
    stop: float = 0.0,
    checkpoint: str | Path | None = None,
) -> SearchResult:
    """The worst tuple of edits that an algorithm of `snellen.search.ALGORITHMS` finds, of `restarts` searches.

    >>> from snellen.search import RandomSearch, fitness_of, search
    >>> right = fitness_of("observer:shape", "phantom:test?size=32&n=24")
    >>> found = search(right, "mnist", RandomSearch(tries=5), length=1)
    >>> len(found.history)
    5
    """
    if not 1 <= restarts <= 1000:
        raise ValueError(f"expected 1 to 1000 restarts, got {restarts}")
    seeds = [seed] if restarts == 1 else [1000 * seed + restart for restart in range(restarts)]
    searches = [Search(_space(space), length, algorithm, restart_seed, stop=stop) for restart_seed in seeds]
    return _search(searches, fitness, constraint, checkpoint)


def _search(
    searches: Sequence[Search], fitness: Fitness, constraint: Constraint | None, checkpoint: str | Path | None
) -> SearchResult:
    """The searches one after the other, as one result: the best of all, every evaluation in its order."""
    results = []
    facts: dict[str, object] = {}
    if checkpoint is not None:
        facts = {"fitness": identity_of(fitness), "constraint": None if constraint is None else identity_of(constraint)}
    for number, restart in enumerate(searches):
        path = None if checkpoint is None else place_to_write(checkpoint)
        if path is not None and number:  # a file for each restart
            path = path.with_name(f"{path.stem}-{number}{path.suffix}")
        results.append(restart.run(fitness, History({**restart.facts(), **facts}, path), constraint))
    best = min(results, key=lambda result: (result.value != result.value, result.value))  # nan last
    history = tuple(evaluation for result in results for evaluation in result.history)
    return SearchResult(best.best, best.value, history, sum(result.images_shown for result in results))


def _space(space: Space | str) -> Space:
    return space if isinstance(space, Space) else space_of(space)
