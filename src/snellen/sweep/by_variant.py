"""Train on each, test on each: the grid of Xiao et al. 2021, table 5; `--in9 DIR` names all variants of a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset
from snellen.data.in9.layout import VARIANTS
from snellen.errors import UserError
from snellen.files.places import is_folder, list_below
from snellen.sweep.points import SweepPlan, SweepPoint, as_recipe, choose_gaps, load_named
from snellen.sweep.request import VariantsRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left
from snellen.train.recipe import Recipe
from snellen.train.request import resolve_training

NamedData = Mapping[str, Dataset | str] | Sequence[str]
LEARNT, SHOWN = "train", "val"


def variants(
    recipe: Recipe | str, train: NamedData, test: NamedData, out: Path | str, runs: int = 1, **settings: Any
) -> Sweep | Left:
    """The accuracy of `runs` networks trained on each of `train`, asked about each of `test`.

    Both are dictionaries from names to data, or texts `NAME=DATA`. `recipe` is a Recipe, or a network's name. Further
    settings are those of `VariantsRequest`: `gaps`, pairs of tests to subtract (by default the BG-gap where mixed_same and
    mixed_rand are among them), `limit` (images of each test), `device`; without `html` there is no page, whose charts need
    a renderer.

    >>> from snellen.sweep import variants
    >>> from snellen.train import preset
    >>> found = variants(preset(None, arch="smallnet", epochs=1),
    ...     {"plain": "phantom:train?size=32&n=24"}, {"plain": "phantom:test?size=32&n=24"},
    ...     "sweeps/variants", quiet=True)
    >>> found.table().shape
    (1, 16)
    """
    values = {"recipe": as_recipe(recipe), "train": train, "test": test, "out": out, "runs": runs, **settings}
    return run_settings(VariantsRequest, plan_variants, resolve_training, values)


def plan_variants(request: VariantsRequest) -> SweepPlan:
    """What a sweep over datasets will do."""
    train_texts, test_texts = in9_variants(request.in9, request.in9_test) if request.in9 is not None else ([], [])
    points = [SweepPoint(name, data) for name, data in load_named([*train_texts, *request.train], "--train").items()]
    tests = load_named([*test_texts, *request.test], "--test")
    return SweepPlan(
        kind="variants", title="Trained on each, tested on each", points=points, tests=tests, out=request.folder,
        recipe=request.how, runs=request.runs, gaps=choose_gaps(request.pairs, tests), limit=request.limit,
        device=request.device,
    )  # fmt: skip


def in9_variants(root: Path, test: Path | None = None) -> tuple[list[str], list[str]]:
    """NAME=DATA of the variants to train on and to test on.

    One folder has the splits `train` and `val`; where another is given for the tests, each may have its images under
    either name.
    """
    if test is None:
        return _texts(root, (LEARNT,), "--in9"), _texts(root, (SHOWN,), "--in9")
    return _texts(root, (LEARNT, SHOWN), "--in9"), _texts(test, (SHOWN, LEARNT), "--in9-test")


def _texts(root: Path, splits: tuple[str, ...], flag: str) -> list[str]:
    """The variants of a folder that have one of the splits, the first that is there."""
    list_below(root)
    if not is_folder(root):
        raise UserError(f"{flag}: no folder '{root}'")
    for split in splits:
        names = [name for name in VARIANTS if is_folder(root / name / split)]
        if names:
            return [f"{name}=in9:{root}/{name}?split={split}" for name in names]
    wanted = " or ".join(f"original/{split}" for split in splits)
    built = f"`snellen build in9 --split {splits[0]}` makes one"
    also = ", or name the tests' folder with --in9-test" if flag == "--in9" and len(splits) == 1 else ""
    raise UserError(f"{flag}: '{root}' has no variant such as {wanted}; {built}{also}")
