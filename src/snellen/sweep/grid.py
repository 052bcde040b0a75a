"""Train on each, test on each: the grid of paper 004, table 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset
from snellen.sweep.points import Plan, Point, as_recipe, chosen_gaps, named
from snellen.sweep.result import Sweep, swept
from snellen.train.recipe import Recipe

Named = Mapping[str, Dataset | str] | Sequence[str]


def variants(
    recipe: Recipe | str,
    train: Named,
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    command: str = "",
    quiet: bool = True,
    html: bool = True,
    **how: Any,
) -> Sweep:
    """The accuracy of `runs` networks trained on each of `train`, asked about each of `test`.

    Both are dictionaries from names to data, or texts `NAME=DATA`. `gaps` are pairs of tests to subtract; by default the
    BG-gap where mixed_same and mixed_rand are among them. `how` may hold `limit` (images of each test) and `device`.
    Without `html` there is no page, whose charts need a renderer.
    """
    return swept(variants_plan(recipe, train, test, out, runs, gaps=gaps, **how), command, quiet, html)


def variants_plan(
    recipe: Recipe | str,
    train: Named,
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    **how: Any,
) -> Plan:
    """What `variants` will do."""
    points = [Point(name, data) for name, data in named(train, "--train").items()]
    tests = named(test, "--test")
    title = "Trained on each, tested on each"
    return Plan(
        "variants", title, points, tests, Path(out), as_recipe(recipe), runs, gaps=chosen_gaps(gaps, tests), **how
    )
