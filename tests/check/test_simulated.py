"""A sample of the gate's promises on planted models; `benchmarks/gate.py` holds all of them, with more models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binom

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from gate_cases.outcomes import equal_models, regressions, wrongly_held
from gate_cases.worlds import WORLDS, World, draw

ALARM = 1e-4  # the chance that a kept promise is called broken by a sample
NO_LOSS = "change(accuracy) >= 0"


CASES = [(WORLDS[1], 1, 60), (WORLDS[4], 1, 60), (WORLDS[4], 20, 12)]


@pytest.mark.parametrize(("world", "questions", "pairs"), CASES, ids=lambda part: getattr(part, "name", part))
def test_equal_models_are_let_through_and_a_regression_of_the_stated_size_is_caught(
    world: World, questions: int, pairs: int
) -> None:
    closed = equal_models(world, questions, pairs, NO_LOSS, "")
    assert binom.sf(closed.count - 1, pairs, 0.05) > ALARM
    caught = regressions(world, questions, pairs, NO_LOSS, pairs)
    assert binom.cdf(caught.count, pairs, 0.8) > ALARM
    assert 0 < caught.drop < 0.3


def test_a_model_that_is_worse_by_the_margin_is_hardly_ever_held_to_be_no_worse() -> None:
    wrong = wrongly_held(WORLDS[0], 60, 0.05)
    assert binom.sf(wrong.count - 1, 60, 0.05) > ALARM


def test_planted_accuracies_are_those_of_the_world() -> None:
    """Over many images the drawn scores have the accuracy and the drop that the world names."""
    import numpy as np

    for world in (World("", 40_000, 0.8), World("", 40_000, 0.97, rare=0.03), World("", 40_000, 0.8, groups=20_000)):
        new, old = draw(world, 2, 0.1, np.random.default_rng(0))
        assert old.scores.mean((1, 2)) == pytest.approx([world.accuracy] * 2, abs=0.01)
        assert new.scores.mean((1, 2)) == pytest.approx([world.accuracy - 0.1, world.accuracy], abs=0.01)
