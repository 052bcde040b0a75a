"""Searches on landscapes whose lowest point is known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from snellen.errors import UserError
from snellen.search.algorithms import (
    ALGORITHMS,
    Algorithm,
    Evolution,
    EvolutionThenClimb,
    RandomSearch,
    _elite,
    selection_weights,
)
from snellen.search.edit_search import EditSearch
from snellen.search.fitness import TRIES, Edits
from snellen.search.history import History
from snellen.search.run_search import Search
from snellen.search.spaces import SPACES, Genes, Space, Transformation

MNIST = SPACES["mnist"]
HIDDEN: Genes = ((1, 7), (7, 20), (5, 3))


PLACES = {
    text: (kind, level)
    for kind, one in enumerate(MNIST.transformations)
    for level, text in enumerate(one.levels)
}  # fmt: skip


def landscape(edits: Edits) -> float:
    """0.01 at the hidden tuple; each gene of another transformation costs 0.3, each level away a little."""
    genes = [PLACES[text] for text in edits]
    cost = sum(0.3 if a != b else min(abs(m - n), 20) / 70 for (a, m), (b, n) in zip(genes, HIDDEN))
    return min(0.01 + cost, 1.0)


@pytest.mark.parametrize(("name", "size"), [("mnist", 211), ("cifar10", 190), ("camvid", 190), ("faces", 191)])
def test_the_published_sets_have_their_published_sizes(name: str, size: int) -> None:
    assert SPACES[name].size == size


def test_levels_are_those_of_the_published_code() -> None:
    levels = {one.name: one.levels for one in MNIST.transformations}
    assert [int(text[4:-1]) for text in levels["red"][:16]] == [
        -120, -111, -103, -95, -86, -78, -70, -62, -53, -45, -37, -28, -20, -12, -4, 4,
    ]  # fmt: skip
    assert [int(text[9:-1]) for text in levels["solarize"]] == [*range(19), 20]
    assert float(levels["contrast"][1][9:-1]) - 0.6 == pytest.approx(0.0421053)
    assert [int(text[4:-1]) for text in {one.name: one.levels for one in SPACES["cifar10"].transformations}["red"]][:6] == [
        -30, -27, -25, -23, -21, -19,
    ]  # fmt: skip


def test_a_gene_is_grey_as_often_as_any_other_type_or_as_any_other_object() -> None:
    grey = [one.name for one in MNIST.transformations].index("grayscale")
    random = np.random.default_rng(0)
    for law, expected in {"type": 0.1, "object": 1 / 211}.items():
        share = np.mean([MNIST.draw_gene(random, law)[0] == grey for _ in range(20_000)])  # type: ignore[arg-type]
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))


@pytest.mark.parametrize("algorithm", [RandomSearch(300), Evolution(10, 29), EvolutionThenClimb(300)])
def test_a_search_asks_as_often_as_it_says_and_repeats_by_its_seed(algorithm: Algorithm) -> None:
    outcomes = [Search(MNIST, 3, algorithm, seed).run(landscape) for seed in (1, 1, 2)]
    assert outcomes[0].evaluations == algorithm.evaluations == 300
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].history != outcomes[2].history
    assert outcomes[0].value == outcomes[0].minima[-1] == landscape(outcomes[0].best)


def test_evolution_beats_chance_and_the_climb_finds_the_hidden_tuple() -> None:
    found = {
        name: [Search(MNIST, 3, algorithm, seed).run(landscape).value for seed in range(10)]
        for name, algorithm in {"rs": RandomSearch(1000), "es": Evolution(), "climb": EvolutionThenClimb()}.items()
    }
    assert np.mean(found["es"]) < np.mean(found["rs"])
    assert np.mean(found["climb"]) < np.mean(found["es"])
    assert np.median(found["climb"]) == pytest.approx(0.01, abs=0.02)


def test_evolution_ends_where_the_model_is_always_wrong_and_survives_equal_fitness() -> None:
    calls = itertools.count()
    zero = Search(MNIST, 3, Evolution()).run(lambda edits: 0.0 if next(calls) == 25 else 0.5)
    assert zero.value == 0
    assert zero.evaluations == 30
    for value in (1.0, 0.0, 0.5):
        Search(MNIST, 3, Evolution(4, 3)).run(lambda edits, value=value: value)


def test_parents_are_drawn_by_what_they_do_to_the_model() -> None:
    fitness = np.array([0.9, 0.5, 0.1])
    assert selection_weights(fitness, "difference") == pytest.approx(np.array([0.1, 0.5, 0.9]) / 1.5)
    assert selection_weights(fitness, "inverse") == pytest.approx(np.array([1 / 0.9, 2, 10]) / (1 / 0.9 + 12))
    assert selection_weights(np.ones(4), "difference") == pytest.approx(np.full(4, 0.25))
    assert np.isfinite(selection_weights(np.zeros(4), "inverse")).all()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_stopped_search_ends_like_one_that_was_not(tmp_path: Path, name: str) -> None:
    algorithm = {"rs": RandomSearch(100), "es": Evolution(10, 9), "es_climb": EvolutionThenClimb(100)}[name]
    search = Search(MNIST, 3, algorithm, seed=3, at_once=4)
    whole = search.run(landscape)
    calls = itertools.count()

    def stops(edits: Edits) -> float:
        if next(calls) == 30:
            raise KeyboardInterrupt
        return landscape(edits)

    path = tmp_path / "history.jsonl"
    with pytest.raises(KeyboardInterrupt):
        search.run(stops, History(search.facts(), path))
    with path.open("a") as file:
        file.write('{"edits": ["red(')  # a line that was cut off
    before = len(History(search.facts(), path).evaluations)
    assert 0 < before < 100
    counted: list[Edits] = []
    resumed = search.run(lambda edits: (counted.append(edits), landscape(edits))[1], History(search.facts(), path))
    assert resumed == whole
    assert len(counted) <= 100 - before
    with pytest.raises(UserError, match="is the history of another search"):
        History(Search(MNIST, 5, algorithm).facts(), path)


class Short:
    """A fitness that forgets tuples."""

    def __call__(self, edits: Edits) -> float:
        return 0.5

    def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
        return [0.5]


def test_a_fitness_that_raises_is_tried_again_and_then_told(tmp_path: Path) -> None:
    calls = itertools.count()

    class Flaky:
        def __call__(self, edits: Edits) -> float:
            return landscape(edits)

        def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
            if next(calls) % 2 == 0:
                raise TimeoutError("no answer in 10 s")
            return [landscape(one) for one in tuples]

    search = Search(MNIST, 3, Evolution(4, 3))
    assert search.run(Flaky()) == search.run(landscape)

    def broken(edits: Edits) -> float:
        raise TimeoutError("no answer in 10 s")

    with pytest.raises(UserError, match=f"failed {TRIES} times \\(TimeoutError: no answer in 10 s\\)"):
        search.run(broken)
    with pytest.raises(UserError, match="from 0 to 1, got 93"):
        search.run(lambda edits: 93.0)
    with pytest.raises(UserError, match="one fitness per tuple"):
        search.run(Short())


def test_the_climb_asks_again_where_the_space_has_no_more_tuples() -> None:
    few = Space("few", (Transformation("red", ("red(1)", "red(2)", "red(3)")),))
    result = Search(few, 1, EvolutionThenClimb(60)).run(lambda edits: 0.5)
    assert {one.edits for one in result.history} == {("red(1)",), ("red(2)",), ("red(3)",)}
    assert result.evaluations == 60


def test_the_climb_asks_about_no_tuple_twice_where_there_are_others() -> None:
    result = Search(MNIST, 3, EvolutionThenClimb(300), seed=4).run(landscape)
    after = [one.edits for one in result.history[30:]]
    assert len(set(after)) == len(after) == 270


@pytest.mark.parametrize(("tries", "start"), [(1, 1), (9, 1), (20, 2), (300, 30)])
def test_the_climb_starts_from_a_tenth_of_its_tries_and_at_least_one(tries: int, start: int) -> None:
    proposals = EvolutionThenClimb(tries, population=1).propose(MNIST, 3, np.random.default_rng(0))
    assert len(next(proposals)) == start


def test_half_of_the_climbs_changes_are_levels_a_tenth_orders_and_the_rest_other_genes() -> None:
    """Of 20 kinds with 200 levels in the middle of which it stands: a drawn gene is hardly ever one of its own kind."""
    wide = Space("wide", tuple(Transformation(f"t{kind}", tuple(map(str, range(200)))) for kind in range(20)))
    genes, random, counts = [(0, 100), (1, 100), (2, 100), (3, 100)], np.random.default_rng(0), [0, 0, 0]
    for _ in range(20_000):
        changed = list(genes)
        EvolutionThenClimb()._change(changed, wide, random)
        kinds = [kind for kind, _ in changed]
        if sorted(changed) == genes:
            counts[1] += 1
        else:
            counts[0 if kinds == [0, 1, 2, 3] else 2] += 1
    # another gene is of the same kind in one of 20 cases
    assert np.array(counts) / 20_000 == pytest.approx([0.5 + 0.4 / 20, 0.1, 0.4 * 19 / 20], abs=0.015)


def test_the_algorithms_have_their_published_names_and_a_search_its_published_budget() -> None:
    assert {"rs": RandomSearch, "es": Evolution, "es_climb": EvolutionThenClimb} == ALGORITHMS
    assert (EditSearch().evaluations, EditSearch().population, EditSearch().mutation) == (1000, 10, 0.1)


def test_the_elite_is_the_best_of_each_combination_and_no_more_than_wanted() -> None:
    """Nine tuples of three combinations of kinds, whatever the order; the lower the better."""
    values = {
        ((a, level), (b, 0)): level + a + 3 * b for level in (2, 0, 1) for a, b in ((0, 1), (1, 0), (2, 2), (3, 3))
    }
    best = [((1, 0), (0, 0)), ((2, 0), (2, 0)), ((3, 0), (3, 0))]
    assert [_elite(values, count) for count in (1, 2, 3, 9)] == [best[:1], best[:2], best, best]
