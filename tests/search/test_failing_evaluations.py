"""Evaluations that fail are tried again one by one, and those that did not fail are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from snellen.distort import View
from snellen.errors import UserError
from snellen.search.algorithms import RandomSearch
from snellen.search.fitness import TRIES, Edits, evaluate
from snellen.search.history import History
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search
from snellen.search.spaces import SPACES

SEARCH = Search(SPACES["mnist"], 3, RandomSearch(40), seed=5)
IMAGES = torch.arange(6, dtype=torch.uint8).view(6, 1, 1, 1).expand(6, 3, 4, 4) * 40


def value_of(edits: Edits) -> float:
    return 0.1 + 0.8 * (sum(map(ord, "".join(edits))) % 997) / 997


PROPOSED = [evaluation.edits for evaluation in SEARCH.run(value_of).history]


class Failing:
    """A fitness, or one of many, that fails at its first `failures` evaluations of some tuples."""

    def __init__(self, failures: dict[Edits, int]) -> None:
        self.left, self.asked = dict(failures), Counter[Edits]()

    def __call__(self, edits: Edits) -> float:
        self.asked[edits] += 1
        if self.left.get(edits, 0) > 0:
            self.left[edits] -= 1
            raise ConnectionError("the line is dead")
        return value_of(edits)


class FailingTogether(Failing):
    """Answers all at once, or none."""

    def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
        return [self(edits) for edits in tuples]


class FailingInTurn(FailingTogether):
    """Answers one after the other."""

    def each(self, tuples: Sequence[Edits]) -> Iterator[float]:
        return map(self, tuples)


@pytest.mark.parametrize("kind", [Failing, FailingInTurn])
def test_a_failing_evaluation_repeats_no_other(kind: type[Failing]) -> None:
    fitness = kind({PROPOSED[13]: 1, PROPOSED[29]: 2})
    assert SEARCH.run(fitness).history == SEARCH.run(value_of).history
    assert fitness.asked == Counter(dict.fromkeys(PROPOSED, 1)) + Counter({PROPOSED[13]: 1, PROPOSED[29]: 2})


def test_where_all_fail_together_each_is_asked_alone_and_at_most_once_more() -> None:
    fitness = FailingTogether({PROPOSED[13]: 2})
    assert SEARCH.run(fitness).history == SEARCH.run(value_of).history
    assert fitness.asked[PROPOSED[13]] == 3
    assert {fitness.asked[edits] for edits in PROPOSED[:13]} == {2}
    assert {fitness.asked[edits] for edits in PROPOSED[14:]} == {1}


@pytest.mark.parametrize("kind", [Failing, FailingInTurn, FailingTogether])
def test_what_came_before_a_final_failure_is_kept(tmp_path: Path, kind: type[Failing]) -> None:
    broken = kind({PROPOSED[21]: 1000})
    with pytest.raises(UserError, match=f"failed {TRIES} times \\(ConnectionError: the line is dead\\)"):
        SEARCH.run(broken, History(SEARCH.facts(), tmp_path / "search.jsonl"))
    assert [entry.edits for entry in History(SEARCH.facts(), tmp_path / "search.jsonl").evaluations] == PROPOSED[:21]
    again = kind({})
    whole = SEARCH.run(again, History(SEARCH.facts(), tmp_path / "search.jsonl"))
    assert whole.history == SEARCH.run(value_of).history
    assert set(again.asked) == set(PROPOSED[21:])


def test_a_search_that_is_killed_keeps_every_evaluation_that_ended(tmp_path: Path) -> None:
    def killed(edits: Edits) -> float:
        if edits == PROPOSED[5]:
            raise KeyboardInterrupt
        return value_of(edits)

    with pytest.raises(KeyboardInterrupt):
        SEARCH.run(killed, History(SEARCH.facts(), tmp_path / "search.jsonl"))
    assert len(History(SEARCH.facts(), tmp_path / "search.jsonl").evaluations) == 5


def test_images_of_other_tuples_are_not_shown_again() -> None:
    """Six images and batches of four: the third call, which fails, shows images 2 to 5 of the second tuple."""
    calls: list[int] = []

    def score(pixels: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        calls.append(len(rows))
        if len(calls) == 3:
            raise ConnectionError("the line is dead")
        return (pixels.float().mean((1, 2, 3)) > 90).float()

    tuples = [("brightness(0.5)",), ("invert()",), ("brightness(1.1)",)]
    fitness = ImageFitness(IMAGES, score, View.of([str(row) for row in range(6)]), batch=4)
    assert list(evaluate(fitness, tuples)) == pytest.approx([1 / 6, 5 / 6, 3 / 6])
    assert calls == [4, 4, 4, *[4, 2], *[4, 2]]


def test_a_fitness_of_each_gives_as_many_as_it_was_asked_for() -> None:
    class TooMany(FailingTogether):
        def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
            return [0.5] * (len(tuples) + 1)

    with pytest.raises(UserError, match=r"expected one fitness per tuple \(2\), got 3"):
        list(evaluate(TooMany({}), PROPOSED[:2]))
