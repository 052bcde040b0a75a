"""Which class an image is of: the nine of the paper, those of a CSV file, or the data's own; coarse or finer."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.names import storable
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.places import exists
from snellen.files.table import Column, line_of, read_table
from snellen.models.label_maps.imagenet9 import nine

_ALSO = {
    "vehicle": "wheeled vehicle",
    "instrument": "musical instrument",
}  # the paper's words, and the published folders'
_WNID = re.compile(r"\bn\d{8}\b")


@dataclass(frozen=True)
class Grouping:
    """The classes of a set, the class of each sample (int [N], −1: of none) and the coarse class of each class."""

    classes: tuple[str, ...]
    labels: np.ndarray
    coarse: tuple[str, ...]


def group_classes(
    data: Dataset, classes: str | Path | None = None, fine: tuple[int, int] | None = None, seed: int = 0
) -> Grouping:
    """How the data's classes become the set's.

    `classes` is `nine`, `all` (each class of the data is one) or a CSV file with columns class and group; by default the
    nine where the data have all of them, else all. Classes are known by their name, or by a WordNet id in it or in a column
    `wnid`. `fine` (k, n) takes k sub-classes of each class, chosen by the seed, in groups of n.
    """
    words = words_of(data)
    if classes is None:
        classes = "nine" if {_nine(word) for word in set(words)} >= set(nine()) else "all"
    if str(classes) == "all":
        order, number = data.classes, {name: label for label, name in enumerate(data.classes)}
        coarse = np.array([number.get(name, -1) for name in _names(data)], np.int64)
    elif str(classes) == "nine":
        order = tuple(nine())
        nine_of_word = {word: _nine(word) for word in set(words)}
        coarse = np.array(
            [-1 if nine_of_word[word] is None else order.index(str(nine_of_word[word])) for word in words], np.int64
        )
    else:
        groups = _read(expand_home(classes))
        order = tuple(dict.fromkeys(groups.values()))
        names = _names(data)
        group_names = [groups.get(name) or groups.get(word) for name, word in zip(names, words)]
        coarse = np.array([-1 if group is None else order.index(group) for group in group_names], np.int64)
    if not (coarse >= 0).any():
        some = ", ".join(data.classes[:4])
        raise UserError(
            f"{data.text} has no image of the classes of '{classes}'; it has '{some}', …; "
            f"give {option('classes')} as a file or all"
        )
    return Grouping(order, coarse, order) if fine is None else _finer(order, coarse, words, fine, seed)


def words_of(data: Dataset) -> list[str]:
    """For each sample the WordNet id of its class where there is one, else the name of its class, "" for none."""
    ids = data.samples.columns.get("wnid")
    names = _names(data)
    if ids is not None:
        return [str(word) if _WNID.fullmatch(str(word)) else name for word, name in zip(ids, names)]
    short = {name: (match[0] if (match := _WNID.search(name)) else name) for name in set(names)}
    return [short[name] for name in names]


def rank(seed: int, purpose: str, word: str) -> str:
    """What things are sorted by to choose among them at random, whatever else is there."""
    return hashlib.blake2b(f"{seed}/{purpose}/{word}".encode(), digest_size=8).hexdigest()


def _names(data: Dataset) -> list[str]:
    return [data.classes[label] if label >= 0 else "" for label in data.samples.labels]


def _nine(word: str) -> str | None:
    """The one of the nine that a WordNet id or a name is of."""
    name = _ALSO.get(word, word)
    return name if name in nine() else _parents().get(word)


@functools.cache
def _parents() -> Mapping[str, str]:
    return {wnid: name for name, wnids in nine().items() for wnid in wnids}


def _finer(order: tuple[str, ...], coarse: np.ndarray, words: list[str], fine: tuple[int, int], seed: int) -> Grouping:
    count, together = fine
    classes: list[str] = []
    parents: list[str] = []
    number: dict[tuple[int, str], int] = {}
    for label, name in enumerate(order):
        own = sorted({word for word, c in zip(words, coarse) if c == label}, key=lambda word: rank(seed, "fine", word))
        if len(own) < count:
            raise UserError(
                f"class '{name}' has {len(own)} sub-classes in the data, {option('fine')} wants {count}; take fewer"
            )
        for start in range(0, count, together):
            for word in own[start : start + together]:
                number[label, word] = len(classes)
            classes.append(name if together == count else f"{name} {start // together + 1}")
            parents.append(name)
    labels = np.array([number.get((int(c), word), -1) for word, c in zip(words, coarse)], np.int64)
    return Grouping(tuple(classes), labels, tuple(parents))


def _read(file: Path) -> dict[str, str]:
    """Class → group of a CSV file."""
    if not exists(file):
        raise UserError(
            f"no file '{file}'; {option('classes')} takes nine, all or a CSV file with columns class and group"
        )
    table = read_table(file, dict.fromkeys(("class", "group"), Column(required=True)))
    groups: dict[str, str] = {}
    for row, (name, group) in enumerate(table[["class", "group"]].itertuples(index=False)):
        where, name, group = f"{file} line {line_of(row)}", storable(name.strip()), storable(group.strip())
        if not name or not group:
            raise UserError(f"{where}: class or group is empty")
        if groups.setdefault(name, group) != group:
            raise UserError(f"{where}: class '{name}' is in '{groups[name]}' already")
    return groups
