"""What a matrix will do and what that costs, known before anything is trained."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.data import as_data
from snellen.data.dataset import Dataset, limited
from snellen.errors import UserError
from snellen.models.compositional import is_compositional, parse_compositional
from snellen.sweep.matrix_rows import MatrixRow, naming, read_rows
from snellen.sweep.points import unknown_class
from snellen.sweep.request import MatrixRequest
from snellen.train.feature_augmentation import Dfa
from snellen.train.hold_out import hold_out
from snellen.train.recipe import Recipe
from snellen.train.robust import parse_robust

if TYPE_CHECKING:
    from torch import nn

TIMED_BATCH = 8
TIMED_STEPS = 3


@dataclass(frozen=True)
class RowCost:
    """What a row costs: its trials, and how many images go through its network forward and backward, over all epochs."""

    name: str
    arch: str
    trials: int
    epochs: int
    trial_images: int
    run_images: int
    seconds: float | None = None

    @property
    def images(self) -> int:
        """Of trials and runs together."""
        return self.trial_images + self.run_images


@dataclass(frozen=True)
class MatrixPlan:
    """The rows, the images they learn from and are judged by, and those that all are asked about afterwards."""

    request: MatrixRequest
    rows: tuple[MatrixRow, ...]
    data: Dataset
    test: Dataset
    learnt: int
    held_out: int

    @property
    def waves(self) -> list[list[MatrixRow]]:
        """The rows in groups: those of each begin with nothing, or with rows of groups before."""
        waves: list[list[MatrixRow]] = []
        depth: dict[str, int] = {}
        for row in self.rows:
            depth[row.name] = max((depth[parent] + 1 for parent in row.parents), default=0)
            if depth[row.name] == len(waves):
                waves.append([])
            waves[depth[row.name]].append(row)
        return waves

    def costs(self) -> list[RowCost]:
        """What each row costs."""
        speeds = _speeds(self) if self.request.timed else {}
        return [self._cost(row, speeds.get(row.recipe.arch)) for row in self.rows]

    def _cost(self, row: MatrixRow, seconds: float | None) -> RowCost:
        trials = sum(_images(recipe, self.learnt) for recipe in row.recipes) if row.grid else 0
        runs = self.request.runs * _images(row.recipe, len(self.data))
        total = None if seconds is None else seconds * (trials + runs)
        return RowCost(row.name, row.recipe.arch, row.trials, row.recipe.epochs, trials, runs, total)


def plan_matrix(request: MatrixRequest) -> MatrixPlan:
    """What a request will do; whatever can be refused is refused now, with the name of its row."""
    rows = read_rows(request.file)
    data, test = as_data(request.data), limited(as_data(request.test), request.limit)
    for flag, dataset in (("--data", data), ("--test", test)):
        if not len(dataset):
            raise UserError(f"{flag}: {dataset.text} holds no images")
    lost = unknown_class(list(data.classes), test, "the matrix")
    if lost is not None:
        raise UserError(f"--test shows the class '{lost}', which {data.text} does not have")
    learnt, held_out = hold_out(data, request.holdout)
    for row in rows:
        with naming(row.name):
            for arch in {recipe.arch for recipe in row.recipes}:
                _build(arch, len(data.classes))
            for robust in {recipe.robust for recipe in row.recipes}:
                _check_way(robust, row)
    return MatrixPlan(request, tuple(rows), data, test, len(learnt), len(held_out))


def _build(arch: str, classes: int, *, real: bool = False) -> nn.Module:
    """The network of a row, by default without memory for its weights; of a compositional one its backbone."""
    import torch

    from snellen.models.zoo import build

    with torch.device("cpu" if real else "meta"):
        return build(parse_compositional(arch).backbone if is_compositional(arch) else arch, classes)


def _check_way(robust: str, row: MatrixRow) -> None:
    way = parse_robust(robust)
    if isinstance(way, Dfa):
        way.pool  # noqa: B018 its folder is read, and refused if it is none
        if row.init is None:
            raise UserError("dfa takes its vectors from a trained network; name it with init, such as init: row:plain")


def _images(recipe: Recipe, count: int) -> int:
    """How many images a training shows."""
    return recipe.updates * recipe.batch_size if recipe.updates is not None else recipe.epochs * count


def _speeds(plan: MatrixPlan) -> Mapping[str, float]:
    """Seconds per image of a training step of each network, measured on this device."""
    if plan.data.size is None:
        return {}
    archs = {row.recipe.arch: row for row in plan.rows}
    return {arch: _seconds_per_image(arch, plan, row) for arch, row in archs.items()}


def _seconds_per_image(arch: str, plan: MatrixPlan, row: MatrixRow) -> float:
    import torch

    from snellen.models.device import choose_device

    assert plan.data.size is not None
    device = choose_device(plan.request.device)
    with naming(row.name):
        network = _build(arch, len(plan.data.classes), real=True).to(device).train()
    images = torch.zeros(TIMED_BATCH, 3, *plan.data.size, device=device)
    for step in range(TIMED_STEPS + 1):
        if step == 1:  # the first one prepares
            _wait(device)
            began = time.perf_counter()
        network(images).sum().backward()
    _wait(device)
    return (time.perf_counter() - began) / (TIMED_STEPS * TIMED_BATCH)


def _wait(device: object) -> None:
    import torch

    if getattr(device, "type", "") == "cuda":
        torch.cuda.synchronize()
