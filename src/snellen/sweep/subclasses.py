"""Sub-classes: which belong to which class, put together into fewer, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.keys import sample_keys
from snellen.data.names import storable
from snellen.errors import UserError, concerning, unknown
from snellen.files import expand_home, fit, read_json
from snellen.files.table import Column, read_table
from snellen.hashing import checksum, key_of

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Subclasses:
    """Coarse classes with their sub-classes: `groups`; `by` is the column that makes them, else they are classes; `source` is
    the file that lists them, where one does."""

    groups: Mapping[str, tuple[str, ...]]
    by: str | None = None
    source: str = ""

    def fine(self, data: Dataset) -> np.ndarray:
        """The sub-class of each sample as a name, '' where it has none."""
        names = np.array([*data.classes, ""], object)[data.samples.labels]
        if self.by is not None:
            values = data.samples.columns[self.by]
            names = np.array([f"{name}/{value}" if name else "" for name, value in zip(names, values)], object)
        return names


def subclasses(
    data: Dataset, *, groups: Groups | Path | str | None = None, tree: bool = False, by: str | None = None
) -> Subclasses:
    """The sub-classes of the data: by a mapping or file, by the data's own tree, or by a column."""
    if (groups is not None) + tree + (by is not None) != 1:
        raise UserError("what are the sub-classes? give one of --groups FILE, --tree and --by COLUMN")
    if by is not None:
        if by not in data.samples.columns:
            raise unknown(f"column of {data.text}", by, data.samples.columns)
        by_column = Subclasses({}, by)
        pairs_by_label = sorted(
            {(int(label), name) for label, name in zip(data.samples.labels, by_column.fine(data)) if name}
        )
        pairs = [(data.classes[label], name) for label, name in pairs_by_label]  # in the data's own order of classes
        return Subclasses(_gathered(pairs), by)
    if tree:
        if not data.tree:
            raise UserError(f"{data.text} has no tree of classes; give --groups FILE or --by COLUMN")
        return Subclasses(_gathered([(_topmost(name, data.tree), name) for name in data.classes]))
    if isinstance(groups, Mapping):
        return _by_mapping(data, groups)
    with concerning(groups):
        return replace(_by_mapping(data, read_groups(expand_home(str(groups)))), source=str(groups))


def _by_mapping(data: Dataset, mapping: Groups) -> Subclasses:
    for coarse, fine in mapping.items():
        for name in fine:
            if name not in data.classes:
                raise unknown(f"class of {data.text} in group '{coarse}'", name, data.classes)
    pairs = [(coarse, name) for coarse, fine in mapping.items() for name in fine]
    names = [name for _, name in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"class '{twice}' is in two groups; each class belongs to one")
    return Subclasses(_gathered(pairs))


def read_groups(path: Path) -> dict[str, list[str]]:
    """Coarse class → classes, of a JSON file (also a label map's `classes`) or a CSV with the columns fine and coarse."""
    if path.suffix == ".csv":
        table = read_table(
            path, dict.fromkeys(("fine", "coarse"), Column(required=True, filled=True)), "file of groups"
        )
        groups_of: dict[str, list[str]] = {}
        for fine, coarse in zip(table["fine"], table["coarse"]):
            groups_of.setdefault(storable(coarse), []).append(storable(fine))
        return groups_of
    content: dict[str, Any] = read_json(path, dict[str, Any], "file of groups", unique=True)
    groups: dict[str, list[str | int]] = fit(content.get("classes", content), dict[str, list[str | int]], path)
    if not groups:
        raise UserError(f'{path}: expected groups as {{"coarse": ["fine", …]}}')
    return {coarse: list(map(str, fine)) for coarse, fine in groups.items()}


def grained(data: Dataset, hierarchy: Subclasses, count: int, seed: int = 0) -> tuple[Dataset, dict[str, list[str]]]:
    """The data with `count` classes for every coarse one, and coarse class → its classes. Samples of no group go.

    Of m sub-classes in an order drawn by the seed, the one at place i goes into class i · count // m.
    """
    if count < 1:
        raise UserError(f"expected grains of at least 1, got {count}")
    target: dict[str, int] = {}
    names: list[str] = []
    coarse: dict[str, list[str]] = {}
    for group, fine in hierarchy.groups.items():
        if len(fine) < count:
            many = f"{len(fine)} sub-class{'es' if len(fine) > 1 else ''}"
            where = f"{hierarchy.source}: " if hierarchy.source else ""
            raise UserError(
                f"{where}class '{group}' has {many}, fewer than the grain {count}; leave it out, or the grain"
            )
        order = [fine[i] for i in np.argsort(sample_keys([f"{seed}/{group}/{name}" for name in fine]), kind="stable")]
        parts = [[name for i, name in enumerate(order) if i * count // len(fine) == part] for part in range(count)]
        coarse[group] = [group if count == 1 else f"{group} {part + 1}" for part in range(count)]
        for part, members in enumerate(parts):
            target |= {member: len(names) + part for member in members}
        names += coarse[group]
    labels = np.array([target.get(name, -1) for name in hierarchy.fine(data)], np.int64)
    return relabelled(data, labels, tuple(names)), coarse


def coarsened(data: Dataset, hierarchy: Subclasses) -> Dataset:
    """Test data with the coarse classes: as they are where they have those, else by the sub-classes they have."""
    names = tuple(hierarchy.groups)
    if set(data.classes) == set(names):
        return data
    belongs = {name: group for group, fine in hierarchy.groups.items() for name in fine}
    if hierarchy.by is not None or not set(data.classes) & set(belongs):
        raise UserError(
            f"{data.text} has neither the classes {_few(names)} nor their sub-classes: {_few(data.classes)}"
        )
    place = {name: names.index(belongs[name]) for name in data.classes if name in belongs}
    labels = np.array([place.get(name, -1) for name in hierarchy.fine(data)], np.int64)
    return relabelled(data, labels, names)


def relabelled(data: Dataset, labels: np.ndarray, classes: tuple[str, ...]) -> Dataset:
    """The data with other labels and classes, without the samples whose label is −1."""
    rows = np.flatnonzero(labels >= 0)
    part = data if len(rows) == len(data) else data.at(rows)
    mark = [part.fingerprint, "relabelled", classes, checksum(labels[rows].tobytes())]
    samples = replace(part.samples, labels=labels[rows])
    return replace(part, classes=classes, samples=samples, tree=None, fingerprint=key_of(mark))


def _gathered(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    members: dict[str, list[str]] = {}
    for coarse, fine in pairs:
        members.setdefault(coarse, []).append(fine)
    return {coarse: tuple(fine) for coarse, fine in members.items()}


def _topmost(name: str, tree: Mapping[str, str]) -> str:
    """The ancestor just below the root; a class right below it is its own."""
    while tree.get(tree.get(name, "")) is not None:
        name = tree[name]
    return name


def _few(classes: Sequence[str]) -> str:
    return ", ".join(classes[:4]) + (f", … ({len(classes)})" if len(classes) > 4 else "")
