"""What an interval of several runs is about, and what many comparisons could have shown."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from snellen.audits import BaselineAudit
from snellen.exam.run import Run
from snellen.measure import recipe_accuracy
from snellen.report.results import Results
from snellen.report.sections.baseline import clean_sentence

from .conftest import Toy, make_run, steady


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One model of five runs and two of one; each asked about clean and noisy images: six comparisons."""
    models = {
        "five": [steady(wrong) for wrong in (0.1, 0.15, 0.2, 0.25, 0.3)],
        "good": [steady(0.1)],
        "poor": [steady(0.35)],
    }
    return make_run(tmp_path_factory.mktemp("runs"), Toy(models=models, audits=(BaselineAudit(),)))


def clean(run: Run, model: str) -> dict:
    return next(one for one in run.results()["findings"] if (one["model"], one["name"]) == (model, "accuracy"))


def test_an_accuracy_of_several_runs_has_the_interval_of_the_recipe_beside_it(three: Run) -> None:
    right = np.array([np.arange(120) < round(120 * (1 - wrong)) for wrong in (0.1, 0.15, 0.2, 0.25, 0.3)])
    recipe = recipe_accuracy(right.astype(float))
    one = clean(three, "five")
    assert one["facts"]["interval_of"] == "these 5 runs"
    assert (one["facts"]["recipe_low"], one["facts"]["recipe_high"]) == pytest.approx((recipe.low, recipe.high))
    assert recipe.low < one["low"] < one["high"] < recipe.high
    assert not {"interval_of", "recipe_low"} & clean(three, "good")["facts"].keys()


def test_the_verdict_says_which_interval_is_of_what(three: Run) -> None:
    results = Results.of(three)
    ((_, sentence),) = clean_sentence(results, "five")
    facts = clean(three, "five")["facts"]
    assert "for these runs on other images" in sentence
    assert (
        f"{100 * facts['recipe_low']:.1f}–{100 * facts['recipe_high']:.1f}% for other runs of the recipe too"
        in sentence
    )
    ((_, single),) = clean_sentence(results, "good")
    assert "recipe" not in single


def test_the_smallest_visible_difference_counts_every_comparison(three: Run) -> None:
    """good and poor differ on 30 of 120 images: mean 0.25, variance 0.25 · 0.75 · 120 / 119."""
    between = [one for one in three.results()["findings"] if one["audit"] == "between"]
    assert len(between) == 6
    pair = next(one for one in between if one["model"] == "good − poor" and one["facts"]["of"] == "accuracy")
    error = math.sqrt(0.25 * 0.75 / 119)
    reach = stats.t.ppf(1 - 0.05 / 12, 119) + stats.t.ppf(0.8, 119)
    assert pair["facts"]["detectable"] == pytest.approx(reach * error)
    assert f"of {100 * reach * error:.1f} points" in pair["text"]
    assert "of these runs" not in pair["text"]
    assert all("of these runs" in one["text"] for one in between if "five" in one["model"])
    assert not any("recipe_low" in one["facts"] for one in between)


def test_a_run_folder_of_one_run_has_no_interval_of_a_recipe(tmp_path: Path) -> None:
    run = make_run(tmp_path, Toy(models={"one": [steady(0.2)]}, audits=(BaselineAudit(),)))
    assert "recipe_low" not in clean(run, "one")["facts"]
