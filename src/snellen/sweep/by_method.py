"""Any list of trained models asked about the same data: mixed_same against mixed_rand (Xiao et al. 2021, figure 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.models.subject import subjects_of
from snellen.settings_file import resolve
from snellen.sweep.by_variant import NamedData
from snellen.sweep.points import SweepPlan, SweepPoint, check_name, choose_gaps, load_named
from snellen.sweep.request import MethodsRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left


def methods(
    models: Mapping[str, str] | Sequence[str], test: NamedData, out: Path | str, **settings: Any
) -> Sweep | Left:
    """The accuracies and gaps of models that are there: a dictionary from names to models, or texts `NAME=MODEL`.

    A glob of checkpoints is one model with several runs. Nothing is trained. Further settings are those of
    `MethodsRequest`; otherwise as `variants`.

    >>> from snellen.sweep import methods
    >>> found = methods({"shape": "observer:shape", "texture": "observer:texture"},
    ...     {"plain": "phantom:test?size=32&n=24"}, "sweeps/methods", quiet=True)
    >>> found.table().shape
    (2, 16)
    """
    values = {"models": models, "test": test, "out": out, **settings}
    return run_settings(MethodsRequest, plan_methods, resolve, values)


def plan_methods(request: MethodsRequest) -> SweepPlan:
    """What a sweep over trained models will do."""
    points = model_points(request.models)
    tests = load_named(request.test, "--test")
    return SweepPlan(
        kind="methods", title="Methods of training, on the same data", tests=tests, out=request.folder, points=points,
        gaps=choose_gaps(request.pairs, tests), limit=request.limit, device=request.device,
    )  # fmt: skip


def model_points(models: Sequence[str | Mapping[str, str]]) -> list[SweepPoint]:
    """A point for each model that is there, of dictionaries and texts `NAME=MODEL`."""
    pairs = [pair for named in models for pair in _pairs(named)]
    for name, model in pairs:
        check_name(name, "MODEL")
        subjects_of(f"{name}={model}")  # a model that is not there is named before others are asked
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two models are called '{twice}'; name them, as in mine=models/a/*.safetensors")
    return [SweepPoint(name, model=model) for name, model in pairs]


def _pairs(models: str | Mapping[str, str]) -> list[tuple[str, str]]:
    if isinstance(models, Mapping):
        return [(str(name), str(model)) for name, model in models.items()]
    name, equals, model = models.partition("=")
    if not equals or not model:
        raise UserError(f"expected NAME=MODEL, such as cutmix=models/cutmix/*.safetensors, got '{models}'")
    return [(name, model)]
