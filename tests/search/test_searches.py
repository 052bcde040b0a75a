"""The searches as functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from snellen.errors import UserError
from snellen.search import Evolution, EvolutionThenClimb, evolution_search, random_search, search, space
from snellen.search.fitness import Edits

calls: list[Edits] = []


def darkness(edits: Edits) -> float:
    """Lowest where all edits are `red` at their lowest level."""
    calls.append(edits)
    shifts = [int(text[4:-1]) for text in edits if text.startswith("red(")]
    return float(np.clip((sum(shifts) + 120 * len(edits)) / (240 * len(edits)) + 0.1, 0, 1))


def test_evaluations_are_as_many_as_stated_and_the_best_is_the_lowest() -> None:
    result = random_search(darkness, "mnist", length=3, evaluations=70, seed=1)
    assert result.evaluations == len(result.history) == 70
    assert result.value == min(one.value for one in result.history if one.value is not None) == darkness(result.best)
    again = evolution_search(darkness, space("mnist"), length=3, population=6, generations=9, seed=1)
    assert again.evaluations == 6 * 10
    assert again.images_shown == 0


def test_restarts_are_other_searches_and_the_lowest_counts() -> None:
    one = [evolution_search(darkness, "mnist", 2, 4, 5, seed=seed) for seed in (7000, 7001, 7002)]
    all_of_them = evolution_search(darkness, "mnist", 2, 4, 5, seed=7, restarts=3)
    assert all_of_them.value == min(result.value for result in one)
    assert all_of_them.history == tuple(evaluation for result in one for evaluation in result.history)


def test_a_constraint_costs_no_call_and_is_met_by_the_best() -> None:
    calls.clear()
    result = random_search(darkness, "mnist", 2, 200, constraint=lambda edits: "red" not in "".join(edits))
    assert not any("red" in text for edits in calls for text in edits)
    assert not any("red" in text for text in result.best)
    assert sum(one.value is None for one in result.history) > 20
    nothing = random_search(darkness, "mnist", 2, 20, constraint=lambda edits: False)
    assert nothing.best == ()
    assert np.isnan(nothing.value)
    none_of_several = evolution_search(darkness, "mnist", 2, 4, 1, constraint=lambda edits: False, restarts=2)
    assert np.isnan(none_of_several.value)


def test_stop_ends_early_and_checkpoints_continue(tmp_path: Path) -> None:
    early = random_search(darkness, "mnist", 1, 5000, stop=0.3)
    assert early.value <= 0.3
    assert early.evaluations < 5000
    calls.clear()
    first = evolution_search(darkness, "mnist", 2, 4, 5, restarts=2, checkpoint=tmp_path / "search.jsonl")
    assert {file.name for file in tmp_path.iterdir()} == {"search.jsonl", "search-1.jsonl"}
    before = len(calls)
    assert evolution_search(darkness, "mnist", 2, 4, 5, restarts=2, checkpoint=tmp_path / "search.jsonl") == first
    assert len(calls) == before
    lines = (tmp_path / "search.jsonl").read_text().splitlines()
    (tmp_path / "search.jsonl").write_text(
        "\n".join([lines[0], lines[1].replace('"value": 0.', '"value": 0.9'), *lines[2:]]) + "\n"
    )
    with pytest.raises(
        UserError, match=r"search.jsonl line 2 does not fit its checksum; remove the file to search again"
    ):
        evolution_search(darkness, "mnist", 2, 4, 5, restarts=2, checkpoint=tmp_path / "search.jsonl")


def test_any_algorithm_can_be_named_and_bad_settings_are_refused() -> None:
    assert search(darkness, "mnist", EvolutionThenClimb(50), 2).evaluations == 50
    with pytest.raises(UserError, match="unknown space 'minst'; did you mean 'mnist'"):
        random_search(darkness, "minst")
    with pytest.raises(ValueError, match="expected a length from 1 to 1000 edits, got 0"):
        random_search(darkness, "mnist", 0)
    with pytest.raises(ValueError, match="expected an even population, got 5"):
        evolution_search(darkness, "mnist", population=5)
    with pytest.raises(ValueError, match="expected 1 to 1000 restarts, got 0"):
        search(darkness, "mnist", Evolution(), restarts=0)
