"""Accuracy and gaps against how fine the classes are that a network is trained to tell apart (Xiao et al. 2021, figure 10)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset, as_data
from snellen.sweep.by_variant import NamedData
from snellen.sweep.points import SweepPlan, SweepPoint, as_recipe, choose_gaps, load_named
from snellen.sweep.request import GrainRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left
from snellen.sweep.subclasses import coarsened, grained, subclasses
from snellen.train.recipe import Recipe
from snellen.train.request import resolve_training


def grain(
    recipe: Recipe | str, data: Dataset | str, grains: Sequence[int], test: NamedData, out: Path | str, **settings: Any
) -> Sweep | Left:
    """The accuracy of networks trained to tell k sub-classes of every class apart, for each k of `grains`.

    Their answers are read as the coarse classes. What the sub-classes are: `groups`, a dictionary (or a file: JSON, or CSV
    with the columns fine and coarse) from coarse classes to the data's own; `tree`, the topmost nodes of the data's own
    tree; or `by`, a column whose values divide the data's classes. Sub-classes are put together into k in an order drawn
    by `groups_seed`; those of one grain are parts of those of any grain that divides it. `rule` is that of the label map:
    argmax, sum or mean. Further settings are those of `GrainRequest`; otherwise as `variants`.

    >>> from snellen import sweep
    >>> grains = sweep.grain("smallnet", "phantom:train?size=16&n=48", [1, 2], {"test": "phantom:test?size=16&n=24"}, "grains",
    ...     by="texture", epochs=1, quiet=True)
    >>> list(grains.wide().index)
    ['grain-1', 'grain-2']
    """
    values = {"recipe": as_recipe(recipe), "data": data, "grains": list(grains), "test": test, "out": out, **settings}
    return run_settings(GrainRequest, plan_grains, resolve_training, values)


def plan_grains(request: GrainRequest) -> SweepPlan:
    """What a sweep over grains will do."""
    data = as_data(request.data)
    parts = subclasses(data, groups=request.groups, tree=request.tree, by=request.by)
    points = []
    for count in sorted(request.grains):
        fine, coarse = grained(data, parts, count, request.groups_seed)
        points.append(SweepPoint(f"grain-{count}", fine, x=len(fine.classes), coarse=coarse))
    tests = {name: coarsened(dataset, parts) for name, dataset in load_named(request.test, "--test").items()}
    return SweepPlan(
        kind="grain", title="Accuracy against fine-grainedness", points=points, tests=tests, out=request.folder,
        recipe=request.how, runs=request.runs, axis="training classes", gaps=choose_gaps(request.pairs, tests),
        rule=request.rule, limit=request.limit, device=request.device,
    )  # fmt: skip
