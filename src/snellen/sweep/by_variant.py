"""Train on each, test on each: the grid of Xiao et al. 2021, table 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset
from snellen.sweep.in9 import in9_variants
from snellen.sweep.points import Plan, Point, as_recipe, choose_gaps, load_named
from snellen.sweep.request import VariantsRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left
from snellen.train.recipe import Recipe
from snellen.train.request import resolve_training

Named = Mapping[str, Dataset | str] | Sequence[str]


def variants(
    recipe: Recipe | str, train: Named, test: Named, out: Path | str, runs: int = 1, **settings: Any
) -> Sweep | Left:
    """The accuracy of `runs` networks trained on each of `train`, asked about each of `test`.

    Both are dictionaries from names to data, or texts `NAME=DATA`. `recipe` is a Recipe, or a network's name. Further
    settings are those of `VariantsRequest`: `gaps`, pairs of tests to subtract (by default the BG-gap where mixed_same and
    mixed_rand are among them), `limit` (images of each test), `device`; without `html` there is no page, whose charts need
    a renderer.
    """
    values = {"recipe": as_recipe(recipe), "train": train, "test": test, "out": out, "runs": runs, **settings}
    return run_settings(VariantsRequest, plan_variants, resolve_training, values)


def plan_variants(request: VariantsRequest) -> Plan:
    """What a sweep over datasets will do."""
    train_texts, test_texts = in9_variants(request.in9, request.in9_test) if request.in9 is not None else ([], [])
    points = [Point(name, data) for name, data in load_named([*train_texts, *request.train], "--train").items()]
    tests = load_named([*test_texts, *request.test], "--test")
    return Plan(
        kind="variants", title="Trained on each, tested on each", points=points, tests=tests, out=request.folder,
        recipe=request.how, runs=request.runs, gaps=choose_gaps(request.pairs, tests), limit=request.limit,
        device=request.device,
    )  # fmt: skip
