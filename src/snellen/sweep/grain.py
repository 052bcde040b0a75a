"""Accuracy and gaps against how fine the classes are that a network is trained to tell apart (paper 004, figure 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset, load_data
from snellen.errors import UserError
from snellen.sweep.grid import Named
from snellen.sweep.points import Plan, Point, as_recipe, chosen_gaps, named
from snellen.sweep.result import Sweep, swept
from snellen.sweep.subclasses import coarsened, grained, subclasses
from snellen.train.recipe import Recipe


def grain(
    recipe: Recipe | str,
    data: Dataset | str,
    grains: Sequence[int],
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    groups: Mapping[str, Sequence[str]] | Path | str | None = None,
    tree: bool = False,
    by: str | None = None,
    seed: int = 0,
    gaps: Sequence[tuple[str, str]] | None = None,
    command: str = "",
    quiet: bool = True,
    **how: Any,
) -> Sweep:
    """The accuracy of networks trained to tell k sub-classes of every class apart, for each k of `grains`.

    Their answers are read as the coarse classes. What the sub-classes are: `groups`, a dictionary (or a file: JSON, or CSV
    with the columns fine and coarse) from coarse classes to the data's own; `tree`, the topmost nodes of the data's own
    tree; or `by`, a column whose values divide the data's classes. Sub-classes are put together into k in an order drawn
    by `seed`; those of one grain are parts of those of any grain that divides it. `how` may
    hold `rule` too, of the label map: argmax, sum or mean. Otherwise as `variants`.
    """
    plan = grain_plan(
        recipe, data, grains, test, out, runs, groups=groups, tree=tree, by=by, seed=seed, gaps=gaps, **how
    )
    return swept(plan, command, quiet)


def grain_plan(
    recipe: Recipe | str,
    data: Dataset | str,
    grains: Sequence[int],
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    groups: Mapping[str, Sequence[str]] | Path | str | None = None,
    tree: bool = False,
    by: str | None = None,
    seed: int = 0,
    gaps: Sequence[tuple[str, str]] | None = None,
    **how: Any,
) -> Plan:
    """What `grain` will do."""
    held = load_data(data) if isinstance(data, str) else data
    if len(set(grains)) < len(grains):
        raise UserError(f"--grains names a grain twice: {','.join(map(str, grains))}")
    found = subclasses(held, groups=groups, tree=tree, by=by)
    points = []
    for count in sorted(grains):
        made, coarse = grained(held, found, count, seed)
        points.append(Point(f"grain-{count}", made, x=len(made.classes), coarse=coarse))
    tests = {name: coarsened(one, found) for name, one in named(test, "--test").items()}
    title, axis = "Accuracy against fine-grainedness", "training classes"
    return Plan(
        "grain", title, points, tests, Path(out), as_recipe(recipe), runs, axis, chosen_gaps(gaps, tests), **how
    )
