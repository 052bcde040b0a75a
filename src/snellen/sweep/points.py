"""What a sweep goes through: named points, each a training or a model that is there, and named data to ask about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen.data import Dataset, as_data
from snellen.errors import UserError
from snellen.models.labels import match_classes
from snellen.train.recipe import Recipe

GAP = ("mixed_same", "mixed_rand")  # whose difference is the BG-gap of Xiao et al. 2021


@dataclass(frozen=True)
class SweepPoint:
    """One model of a sweep: its name and place `x` on the axis, and what it is trained on, or the `model` that is there.

    `coarse` says which of the training's classes are read as which class of the tests (class → its sub-classes); without
    it classes are matched by name. `ids` are the samples of a subset, for the record.
    """

    name: str
    data: Dataset | None = None
    x: float | None = None
    model: str | None = None
    coarse: Mapping[str, Sequence[str]] | None = None
    ids: Sequence[str] | None = None

    @property
    def description(self) -> str:
        """What it is trained on, or who it is, in words."""
        return self.model or (self.data.text if self.data is not None else "")


@dataclass(frozen=True, kw_only=True)
class SweepPlan:
    """A whole sweep before anything is trained.

    `axis` names `x`; `gaps` are pairs of tests whose accuracies are subtracted; `rule` is that of the label map where
    points are coarsened; `limit` is the most images asked about in each test; `source` is the test from the domain that models
    were trained on, where the others are domains they have not seen.
    """

    kind: str
    title: str
    points: Sequence[SweepPoint]
    tests: Mapping[str, Dataset]
    out: Path
    recipe: Recipe = field(default_factory=Recipe)
    runs: int = 1
    axis: str | None = None
    gaps: Sequence[tuple[str, str]] = ()
    rule: str = "argmax"
    limit: int | None = None
    device: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if not self.points:
            raise UserError("a sweep needs at least one point; give data to train on, or models")
        if not self.tests:
            raise UserError("no test data given; for example --test original=folder:photos")
        for first, second in self.gaps:
            for name in (first, second):
                if name not in self.tests:
                    known = ", ".join(self.tests)
                    raise UserError(f"the gap {first}-{second} needs test data called '{name}'; there are: {known}")
        for point in self.points:  # before hours of training, not after
            if point.data is not None:
                classes = list(point.coarse) if point.coarse is not None else list(point.data.classes)
                for name, data in self.tests.items():
                    lost = unknown_class(classes, data, point.name)
                    if lost is not None:
                        raise UserError(f"--test {name} shows the class '{lost}', which {point.name} is not trained on")


def unknown_class(classes: Sequence[str], data: Dataset, model: str) -> str | None:
    """The first class that the data show and a model with these classes cannot answer."""
    targets = match_classes(classes, data.classes, model)[0].targets
    labels = sorted({int(label) for label in data.samples.labels if label >= 0})
    return None if targets is None else next((data.classes[label] for label in labels if label not in targets), None)


def load_named(sources: Sequence[str | Mapping[str, Dataset | str]], flag: str) -> dict[str, Dataset]:
    """Datasets by name, of dictionaries and texts `NAME=DATA`; `flag` is the option that errors name."""
    datasets: dict[str, Dataset] = {}
    for name, data in (pair for source in sources for pair in _pairs(source, flag)):
        check_name(name, flag)
        if name in datasets:
            raise UserError(f"{flag} names '{name}' twice; names must differ")
        datasets[name] = as_data(data)
        if not len(datasets[name]):
            raise UserError(f"{flag} {name}: {datasets[name].text} holds no images")
    return datasets


def check_name(name: str, flag: str) -> None:
    """Refuse a name that cannot be a folder's or a column's."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.+-]*", name):
        raise UserError(f"{flag}: expected a name of letters, digits, '_', '-', '+' or '.', got '{name}'")


def choose_gaps(gaps: Sequence[tuple[str, str]] | None, tests: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The pairs of tests to subtract: those named, else mixed_same and mixed_rand where both are there."""
    if gaps is not None:
        return tuple((first, second) for first, second in gaps)
    return (GAP,) if set(GAP) <= set(tests) else ()


def as_recipe(recipe: Recipe | str) -> Recipe:
    """A recipe, or that of a network's name."""
    return Recipe(arch=recipe) if isinstance(recipe, str) else recipe


def _pairs(source: str | Mapping[str, Dataset | str], flag: str) -> list[tuple[str, Dataset | str]]:
    if isinstance(source, Mapping):
        return list(source.items())
    match = re.match(r"([\w.+-]+)=(.+)", source)
    if not match:
        raise UserError(f"expected {flag} NAME=DATA, such as original=folder:photos, got '{source}'")
    return [(match[1], match[2])]
