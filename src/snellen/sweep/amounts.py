"""Accuracy and gaps against the amount of training data (paper 004, figures 3, 11 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from snellen.data import Dataset, load_data
from snellen.errors import UserError
from snellen.sweep.grid import Named
from snellen.sweep.points import Plan, Point, as_recipe, chosen_gaps, named
from snellen.sweep.result import Sweep, swept
from snellen.train.recipe import Recipe


def amount(
    recipe: Recipe | str,
    data: Dataset | str,
    amounts: Sequence[int],
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    command: str = "",
    quiet: bool = True,
    **how: Any,
) -> Sweep:
    """The accuracy of networks trained on so many images of `data`, asked about each of `test`.

    The images of a smaller amount are among those of a larger one, all classes alike often (see `balanced_subset`).
    Otherwise as `variants`.
    """
    return swept(amount_plan(recipe, data, amounts, test, out, runs, gaps=gaps, **how), command, quiet)


def amount_plan(
    recipe: Recipe | str,
    data: Dataset | str,
    amounts: Sequence[int],
    test: Named,
    out: Path | str,
    runs: int = 1,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    **how: Any,
) -> Plan:
    """What `amount` will do."""
    held = load_data(data) if isinstance(data, str) else data
    if len(set(amounts)) < len(amounts):
        raise UserError(f"--amounts names an amount twice: {','.join(map(str, amounts))}")
    points = []
    for count in sorted(amounts):
        part = balanced_subset(held, count)
        points.append(Point(str(count), part, x=count, ids=part.samples.ids))
    tests = named(test, "--test")
    title, axis = "Accuracy against the amount of training data", "training images"
    return Plan(
        "amount", title, points, tests, Path(out), as_recipe(recipe), runs, axis, chosen_gaps(gaps, tests), **how
    )


def balanced_subset(data: Dataset, count: int) -> Dataset:
    """`count` samples, of every class alike many (or one more), chosen by a hash of their ids; 100 are part of 200.

    Classes without any sample do not count. A class that has too few is an error that names it.
    """
    labels = data.samples.labels
    present = np.unique(labels[labels >= 0])
    if not len(present) <= count:
        raise UserError(f"expected an amount of at least {len(present)}, one image a class of {data.text}, got {count}")
    taken = []
    for place, label in enumerate(present):
        rows = np.flatnonzero(labels == label)
        wanted = count // len(present) + (place < count % len(present))
        if len(rows) < wanted:
            most = len(present) * min(int((labels == one).sum()) for one in present)
            raise UserError(
                f"{data.text}: class '{data.classes[label]}' has {len(rows)} images, {count} in all need {wanted} of it;"
                f" up to {most} can be had of all classes alike"
            )
        taken.append(rows[np.argsort(data.samples.keys[rows], kind="stable")[:wanted]])
    return data.at(np.sort(np.concatenate(taken)))
