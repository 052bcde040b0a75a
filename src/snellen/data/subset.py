"""Data made of other data: random labels, classes left out or renamed, chosen samples. Each has a fingerprint of its own.

They are options of every kind of data: `folder:x?ids=tail.txt&without=truck,cat&random_labels=0.5&labels_seed=1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from snellen.data.class_map import classes_by_text, few, renamed_by_text
from snellen.data.dataset import Dataset, Samples
from snellen.data.keys import uniform
from snellen.errors import UserError, unknown
from snellen.files import MIB, expand_home, read_text
from snellen.files.places import exists
from snellen.hashing import key_of

Number = TypeVar("Number", int, float)
OPTIONS = {
    "ids": "only the samples whose ids a text file lists, one per line",
    "without": "without these classes, separated by commas",
    "rename": "classes under other names, OLD:NEW separated by commas; those that get one name become one",
    "classes": "only these classes, in this order: separated by commas, or listed in a file (.txt, .json, .yaml), which may say "
    "of which classes each is made",
    "random_labels": "this share of the labels, 0 to 1, drawn again from all classes",
    "labels_seed": "the seed of random_labels, 0 if not given",
}
PER_IMAGE = OPTIONS.keys() - {"ids"}


def apply_options(data: Dataset, options: Mapping[str, str]) -> Dataset:
    """The data under the options named in OPTIONS, in that order: labels are drawn from the classes that are left."""
    if "labels_seed" in options and "random_labels" not in options:
        raise UserError("labels_seed says how random labels are drawn; add random_labels=SHARE or leave it out")
    for name in PER_IMAGE & options.keys() if "labels" in data.facts else ():
        raise UserError(f"{name}= changes the labels of images, but {data.text} has labels of pixels; leave it out")
    if "ids" in options:
        data = only_ids(data, options["ids"])
    if "without" in options:
        data = without_classes(data, [name.strip() for name in options["without"].split(",") if name.strip()])
    if "rename" in options:
        data = renamed_by_text(data, options["rename"])
    if "classes" in options:
        data = classes_by_text(data, options["classes"])
    if "random_labels" in options:
        share = _number("random_labels", options["random_labels"], float)
        seed = _number("labels_seed", options.get("labels_seed", "0"), int)
        data = random_labels(data, share, seed)
    return data


def random_labels(data: Dataset, share: float, seed: int = 0) -> Dataset:
    """The data with a share of its labels, 0 to 1, drawn again, each class equally likely (Marcu & Prügel-Bennett 2022, C.3).

    A drawn label may by chance be the old one. Whether and what is drawn depends only on the seed and the sample's id: a
    larger share draws the same labels and more, a limit or a subset changes none. Unknown labels (−1) stay unknown.

    >>> from snellen.data import load_data, random_labels
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> again = random_labels(data, share=1.0)
    >>> len(again) == len(data), again.fingerprint == data.fingerprint
    (True, False)
    """
    if not 0 <= share <= 1:
        raise UserError(f"expected random_labels in [0, 1], got {share:g}")
    if seed < 0:
        raise UserError(f"expected labels_seed of at least 0, got {seed}")
    samples = replace(data.samples, labels=draw_labels(data.samples, len(data.classes), share, seed))
    return replace(data, samples=samples, fingerprint=key_of([data.fingerprint, "random_labels", float(share), seed]))


def draw_labels(samples: Samples, classes: int, share: float = 1, seed: int = 0) -> np.ndarray:
    """int64 [samples]: the labels that `random_labels` gives a listing."""
    random = (uniform(samples.ids, f"{seed}/label") * classes).astype(np.int64)
    replaced = (uniform(samples.ids, f"{seed}/whether") < share) & (samples.labels >= 0)
    return np.where(replaced, random, samples.labels)


def without_classes(data: Dataset, names: Sequence[str]) -> Dataset:
    """The data without some classes: their samples go, their names leave the list of classes, labels are renumbered.

    So a network trained on it has no output for them, and the answer of one that has counts as outside the data
    (Marcu & Prügel-Bennett 2022, C.5.1). Unlabelled samples stay.

    >>> from snellen.data import load_data, without_classes
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> len(data.classes), len(without_classes(data, data.classes[:1]).classes)
    (12, 11)
    """
    if not names:
        raise UserError(f"without= names no class; {data.text} has: {few(data.classes)}")
    for name in names:
        if name not in data.classes:
            raise unknown(f"class of {data.text}", name, data.classes)
    removed = np.array([name in names for name in data.classes])
    if removed.all():
        raise UserError(f"without={','.join(names)} leaves no class of {data.text}")
    numbers = np.append(np.cumsum(~removed) - 1, -1)  # the last one is for label −1
    labels = data.samples.labels
    rows = np.flatnonzero((labels < 0) | ~removed[labels])
    if not len(rows):
        raise UserError(f"without={','.join(names)} leaves no sample of {data.text}")
    rest = data.at(rows)
    names_removed = sorted(set(names))
    return replace(
        rest,
        classes=tuple(name for name in data.classes if name not in names),
        samples=replace(rest.samples, labels=numbers[rest.samples.labels]),
        tree=None if data.tree is None else {name: up for name, up in data.tree.items() if name not in names},
        fingerprint=key_of([rest.fingerprint, "without", names_removed]),
    )


def only_ids(data: Dataset, file: str | Path) -> Dataset:
    """The samples that a text file lists, one id per line, in the data's own order; all classes stay.

    >>> from snellen.data import load_data, only_ids
    >>> from pathlib import Path
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> _ = Path("ids.txt").write_text(data.samples.ids[0])
    >>> len(only_ids(data, "ids.txt"))
    1
    """
    wanted = read_ids(data, file)
    return data.at(np.flatnonzero([name in wanted for name in data.samples.ids]))


def read_ids(data: Dataset, file: str | Path, limited: bool = False) -> frozenset[str]:
    """The ids that a text file lists, one per line; each must be the data's, unless it is known to be only a part (`limited`)."""
    lines = _lines(file)
    known = set(data.samples.ids)
    wanted = [line if line in known else line.strip() for line in lines]  # spaces may belong to a name
    for number, name in enumerate(wanted, 1):
        if name and name not in known and not limited:
            first = data.samples.ids[0] if len(data) else "none"
            raise UserError(f"{file} line {number}: {data.text} has no sample '{name[:80]}'; its first is '{first}'")
    if not any(wanted):
        raise UserError(f"{file} lists no sample ids; write one per line")
    return frozenset(known.intersection(wanted))


def _lines(file: str | Path) -> list[str]:
    """The lines of a list of ids; only a line feed ends one, since names may have every other character."""
    path = expand_home(file)
    if not exists(path):
        raise UserError(f"no file '{file}' of sample ids")
    text = read_text(path, "list of sample ids", 256 * MIB)
    return [line.removesuffix("\r") for line in text.split("\n")]


def _number(name: str, value: str, kind: type[Number]) -> Number:
    try:
        return kind(value)
    except ValueError:
        wanted = "whole number" if kind is int else "number"
        raise UserError(f"expected {name} as a {wanted}, got '{value}'") from None
