"""Any list of trained models asked about the same data: mixed_same against mixed_rand (paper 004, figure 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.models.subject import subjects_of
from snellen.sweep.grid import Named
from snellen.sweep.points import Plan, Point, check_name, chosen_gaps, named
from snellen.sweep.result import Sweep, swept


def methods(
    models: Mapping[str, str] | Sequence[str],
    test: Named,
    out: Path | str,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    command: str = "",
    quiet: bool = True,
    **how: Any,
) -> Sweep:
    """The accuracies and gaps of models that are there: a dictionary from names to models, or texts `NAME=MODEL`.

    A glob of checkpoints is one model with several runs. Nothing is trained. Otherwise as `variants`.
    """
    return swept(methods_plan(models, test, out, gaps=gaps, **how), command, quiet)


def methods_plan(
    models: Mapping[str, str] | Sequence[str],
    test: Named,
    out: Path | str,
    *,
    gaps: Sequence[tuple[str, str]] | None = None,
    **how: Any,
) -> Plan:
    """What `methods` will do."""
    pairs = list(models.items()) if isinstance(models, Mapping) else [_pair(text) for text in models]
    for name, model in pairs:
        check_name(name, "MODEL")
        subjects_of(f"{name}={model}")  # a model that is not there is named before others are asked
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two models are called '{twice}'; name them, as in mine=models/a/*.safetensors")
    tests = named(test, "--test")
    points = [Point(name, model=model) for name, model in pairs]
    title = "Methods of training, on the same data"
    return Plan("methods", title, points, tests, Path(out), gaps=chosen_gaps(gaps, tests), **how)


def _pair(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    if not equals or not model:
        raise UserError(f"expected NAME=MODEL, such as cutmix=models/cutmix/*.safetensors, got '{text}'")
    return name, model
