"""Any list of trained models asked about datasets of the same classes: their own domain and unseen ones (Volpi & Murino 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data import Dataset, map_classes
from snellen.errors import UserError, unknown
from snellen.models.subject import subjects_of
from snellen.settings_file import resolve
from snellen.sweep.by_method import model_points
from snellen.sweep.by_variant import NamedData
from snellen.sweep.points import SweepPlan, SweepPoint, load_named, unknown_class
from snellen.sweep.request import DomainsRequest
from snellen.sweep.result import Sweep, run_settings
from snellen.sweep.run_sweep import Left


def domains(
    models: Mapping[str, str] | Sequence[str], datasets: NamedData, out: Path | str, **settings: Any
) -> Sweep | Left:
    """The accuracies of models that are there in each domain, and their mean over the domains they have not seen.

    Both are dictionaries from names to models or data, or texts `NAME=MODEL` and `NAME=DATA`. The datasets have the same
    classes (`?rename=`, `?classes=` and `?without=` make them so); the first, or the one that `source` names, is that of
    the domain the models were trained on. A glob of checkpoints is one model with several runs. Further settings are
    those of `DomainsRequest`.

    >>> from snellen.sweep import domains
    >>> found = domains({"shape": "observer:shape"},
    ...     {"plain": "phantom:test?size=32&n=24", "textured": "phantom:test?size=32&n=24&texture_bias=1"},
    ...     "sweeps/domains", quiet=True)
    >>> found.table().shape
    (3, 16)
    """
    values = {"models": models, "test": datasets, "out": out, **settings}
    return run_settings(DomainsRequest, plan_domains, resolve, values)


def plan_domains(request: DomainsRequest) -> SweepPlan:
    """What a sweep over domains will do."""
    points = model_points(request.models)
    tests = load_named(request.test, "--test")
    source = request.source or next(iter(tests), None)
    if source is not None and source not in tests:
        raise unknown("test of --source", source, tests)
    order = sorted(tests, key=lambda name: name != source)
    same = {name: _with_classes(tests[name], name, tests[str(source)], str(source)) for name in order}
    for point in points:
        _check_outputs(point, same)
    return SweepPlan(
        kind="domains", title="Accuracy by domain", tests=same, out=request.folder, points=points, limit=request.limit,
        device=request.device, source=source,
    )  # fmt: skip


def _with_classes(data: Dataset, name: str, source: Dataset, first: str) -> Dataset:
    """The data with its classes in the source's order; other classes are refused by their names."""
    lacks = [name for name in source.classes if name not in data.classes]
    adds = [name for name in data.classes if name not in source.classes]
    if lacks or adds:
        parts = [f"{words} {_few(names)}" for words, names in (("lacks", lacks), ("has also", adds)) if names]
        raise UserError(
            f"--test {name} has other classes than {first}: it {' and '.join(parts)}; make them the same with ?rename=OLD:NEW, "
            "?without= or ?classes="
        )
    return map_classes(data, {name: [name] for name in source.classes})


def _check_outputs(point: SweepPoint, tests: Mapping[str, Dataset]) -> None:
    """Refuse a model that cannot answer a class that some data show: it could not be right there."""
    for subject in subjects_of(f"{point.name}={point.model}"):
        for name, data in tests.items():
            lost = None if subject.card.classes is None else unknown_class(subject.card.classes, data, point.name)
            if lost is not None:
                raise UserError(f"--test {name} shows the class '{lost}', which the model {point.name} does not have")


def _few(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:8]) + (f", … ({len(names)})" if len(names) > 8 else "")
