"""Classes under other names, in another order, put together or left out, so that several datasets have the same ones.

They are options of every kind of data: `stl:stl10_binary?without=monkey&rename=car:automobile` and `?classes=cifar10.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.names import MOST_NAMES, different, read_names, storable
from snellen.errors import UserError, concerning, unknown
from snellen.files import expand_home, fit, read_json
from snellen.files.yaml_file import read_yaml
from snellen.hashing import key_of

FILES = (".json", ".yaml", ".yml", ".txt")
Members = Mapping[str, Sequence[str]]  # class → the data's own classes that become it


def map_classes(data: Dataset, members: Members) -> Dataset:
    """The data with these classes, in this order, each made of some of its own; samples of all others go.

    A class may have no members: nothing of it is shown, but a model may answer it. Unlabelled samples stay.

    >>> from snellen.data import load_data, map_classes
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> map_classes(data, {"first": data.classes[:1], "second": data.classes[1:3]}).classes
    ('first', 'second')
    """
    if not members:
        raise UserError(f"classes= names no class; {data.text} has: {few(data.classes)}")
    _check_members(data, members)
    if list(members.items()) == [(name, [name]) for name in data.classes]:
        return data
    numbers = np.full(len(data.classes) + 1, -1)  # the last one is for label −1
    for number, own in enumerate(members.values()):
        for name in own:
            numbers[data.classes.index(name)] = number
    labels = data.samples.labels
    rows = np.flatnonzero((labels < 0) | (numbers[labels] >= 0))
    if not len(rows):
        raise UserError(f"the classes {few(tuple(members))} leave no sample of {data.text}")
    rest = data if len(rows) == len(data) else data.at(rows)
    return replace(
        rest,
        classes=different(list(members), f"the classes of {data.text}", "name"),
        samples=replace(rest.samples, labels=numbers[rest.samples.labels]),
        tree=None,
        fingerprint=key_of([rest.fingerprint, "classes", [[name, sorted(own)] for name, own in members.items()]]),
    )


def rename_classes(data: Dataset, names: Mapping[str, str]) -> Dataset:
    """The data with some classes under other names, in the order they have; classes that get the same name become one.

    >>> from snellen.data import load_data, rename_classes
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> rename_classes(data, {data.classes[0]: "thing"}).classes[0]
    'thing'
    """
    for name in names:
        if name not in data.classes:
            raise unknown(f"class of {data.text}", name, data.classes)
    members: dict[str, list[str]] = {}
    for name in data.classes:
        members.setdefault(names.get(name, name), []).append(name)
    return map_classes(data, members)


def classes_by_text(data: Dataset, text: str) -> Dataset:
    """The data under `?classes=`: names separated by commas, or a file (JSON, YAML or one name per line)."""
    if text.lower().endswith(FILES):
        with concerning(text):
            return map_classes(data, read_members(expand_home(text)))
    names = different([name.strip() for name in text.split(",") if name.strip()], f"classes={text[:60]}", "name")
    return map_classes(data, {name: [name] for name in names})


def renamed_by_text(data: Dataset, text: str) -> Dataset:
    """The data under `?rename=old:new,old:new`."""
    names: dict[str, str] = {}
    for pair in text.split(","):
        old, colon, new = (part.strip() for part in pair.rpartition(":"))
        if not (old and colon and new):
            raise UserError(f"expected rename=OLD:NEW, several separated by commas, got '{pair[:60]}'")
        if old in names:
            raise UserError(f"rename= gives the class '{old}' two names; leave one out")
        names[old] = storable(new)
    return rename_classes(data, names)


def read_members(path: Path) -> dict[str, list[str]]:
    """Class → the data's own classes, of a file: a list of names, or an object from each class to one or several."""
    if path.suffix.lower() == ".txt":
        content: object = list(read_names(path))
    elif path.suffix.lower() == ".json":
        content = read_json(path, list[str] | dict[str, str | list[str]], "list of classes", unique=True)
    else:
        content = fit(read_yaml(path, "list of classes"), list[str] | dict[str, str | list[str]], path)
    if not isinstance(content, dict):
        assert isinstance(content, list)
        return {name: [name] for name in different(content, str(path), "name")}
    members = {storable(name): [own] if isinstance(own, str) else own for name, own in content.items()}
    if not all(members) or len(members) > MOST_NAMES:
        raise UserError(f"{path}: expected classes with names that are not empty, and at most {MOST_NAMES:,} of them")
    return members


def _check_members(data: Dataset, members: Members) -> None:
    of: dict[str, str] = {}
    for name, own in members.items():
        for member in own:
            if member not in data.classes:
                place = "" if member == name else f" in '{name}'"
                raise unknown(f"class of {data.text}{place}", member, data.classes)
            if member in of:
                raise UserError(
                    f"class '{member}' of {data.text} is in '{of[member]}' and in '{name}'; leave it in one"
                )
            of[member] = name


def few(classes: Sequence[str]) -> str:
    """Some names as an error lists them."""
    return ", ".join(classes[:8]) + (f", … ({len(classes)})" if len(classes) > 8 else "")
