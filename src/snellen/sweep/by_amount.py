"""Accuracy and gaps against the amount of training data (Xiao et al. 2021, figures 3, 11 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from snellen.data import Dataset, as_data
from snellen.errors import UserError
from snellen.sweep.by_variant import NamedData
from snellen.sweep.points import SweepPlan, SweepPoint, as_recipe, choose_gaps, load_named
from snellen.sweep.request import AmountRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left
from snellen.train.recipe import Recipe
from snellen.train.request import resolve_training


def amount(
    recipe: Recipe | str, data: Dataset | str, amounts: Sequence[int], test: NamedData, out: Path | str, **settings: Any
) -> Sweep | Left:
    """The accuracy of networks trained on so many images of `data`, asked about each of `test`.

    The images of a smaller amount are among those of a larger one, with as many of each class (see `balanced_subset`).
    Further settings are those of `AmountRequest`, such as `runs`; otherwise as `variants`.

    >>> from snellen.sweep import amount
    >>> from snellen.train import preset
    >>> found = amount(preset(None, arch="smallnet", epochs=1), "phantom:train?size=32&n=48",
    ...     [12, 24], {"plain": "phantom:test?size=32&n=24"}, "sweeps/amount", quiet=True)
    >>> found.table().shape
    (2, 16)
    """
    values = {"recipe": as_recipe(recipe), "data": data, "amounts": list(amounts), "test": test, "out": out, **settings}
    return run_settings(AmountRequest, plan_amounts, resolve_training, values)


def plan_amounts(request: AmountRequest) -> SweepPlan:
    """What a sweep over amounts will do."""
    data = as_data(request.data)
    points = []
    for count in sorted(request.amounts):
        part = balanced_subset(data, count)
        points.append(SweepPoint(str(count), part, x=count, ids=part.samples.ids))
    tests = load_named(request.test, "--test")
    return SweepPlan(
        kind="amount", title="Accuracy against the amount of training data", points=points, tests=tests,
        out=request.folder, recipe=request.how, runs=request.runs, axis="training images",
        gaps=choose_gaps(request.pairs, tests), limit=request.limit, device=request.device,
    )  # fmt: skip


def balanced_subset(data: Dataset, count: int) -> Dataset:
    """`count` samples, as many of each class (or one more), chosen by a hash of their ids; 100 are part of 200.

    Classes without any sample do not count. A class that has too few is an error that names it.
    """
    labels = data.samples.labels
    present = np.unique(labels[labels >= 0])
    if not len(present) <= count:
        raise UserError(
            f"expected an amount of at least {len(present)}, one image per class of {data.text}, got {count}"
        )
    taken = []
    for place, label in enumerate(present):
        rows = np.flatnonzero(labels == label)
        wanted = count // len(present) + (place < count % len(present))
        if len(rows) < wanted:
            most = len(present) * min(int((labels == label).sum()) for label in present)
            raise UserError(
                f"{data.text}: class '{data.classes[label]}' has {len(rows)} images, {count} in all need {wanted} of it;"
                f" at most {most} are possible with as many of each class"
            )
        taken.append(rows[np.argsort(data.samples.keys[rows], kind="stable")[:wanted]])
    return data.at(np.sort(np.concatenate(taken)))
