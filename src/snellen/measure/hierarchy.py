"""A tree of classes: answers scored at every depth of it, and how far off wrong answers are (Kassaw et al. 2024, 3.4 and 6.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.bootstrap import bootstrap_interval, keep
from snellen.measure.estimate import Estimate, as_runs
from snellen.measure.joint_bootstrap import ratio

Tree = Mapping[Any, Any]
"""{name: parent}; the root is the one name that has no entry of its own."""

_ROOT = "root"
# The tree of the 23 classes of IRUO (Kassaw et al. 2024, figure 5), as the published study program has it. The paper's text
# gives the depths of zebra (4), fish (2) and dog (4), that tiger lies with cat and that bird, parrot and poultry are one at depth
# 2; all hold here. The rest, inner names included, is that of the program, which puts `person` below the root. It calls
# `giant_panda` panda; this is the name of the class in the dataset.
_CHILDREN = {
    _ROOT: ("animal", "person", "vehicle"),
    "animal": ("mammal", "birds", "fish", "reptile"),
    "mammal": ("elephant", "giraffe", "sheep", "cow", "monkey", "rabbit", "equine", "bears", "carnivore"),
    "equine": ("horse", "zebra"),
    "bears": ("giant_panda", "bear"),
    "carnivore": ("feline", "dog"),
    "feline": ("tiger", "cat"),
    "birds": ("parrot", "poultry", "bird"),
    "reptile": ("lizard", "turtle"),
    "vehicle": ("airplane", "wheeled_vehicle"),
    "wheeled_vehicle": ("bicycle", "motorcycle"),
}
IRUO_TREE: dict[str, str] = {child: parent for parent, children in _CHILDREN.items() for child in children}
IRUO_CLASSES: tuple[str, ...] = tuple(name for name in chain(*_CHILDREN.values()) if name not in _CHILDREN)


@dataclass(frozen=True)
class TreeDistances(Estimate):
    """`value` is the mean number of edges between truth and answer, over wrong answers; `n` counts the images with one.

    `counts` has the number of wrong answers at each distance and `shares` their share of all wrong answers; `unanswered` counts
    the empty answers, which lie nowhere.
    """

    counts: dict[int, int]
    shares: dict[int, float]
    unanswered: int


def hierarchical_accuracy(
    pred: ArrayLike, label: ArrayLike, tree: Tree, level: int, groups: ArrayLike | None = None
) -> Estimate:
    """Accuracy where truth and answer are replaced by their ancestors at depth `level`, or by themselves where they lie higher.

    `pred` is [samples] or [runs, samples] of names, `label` [samples]; the root has depth 0. At the depth of the deepest class
    it is the usual accuracy. An empty answer ("", None or nan) is wrong at every level. `groups` as in `accuracy`.

    >>> from snellen.measure import hierarchical_accuracy
    >>> tree = {"cat": "animal", "dog": "animal", "car": "vehicle", "animal": "thing", "vehicle": "thing"}
    >>> hierarchical_accuracy(["dog", "car"], ["cat", "car"], tree, level=1).value  # a dog for a cat is an animal still
    1.0
    """
    answers, truths = _pairs(pred, label)
    right = (at_level(answers, tree, level) == at_level(truths, tree, level)) & ~_empty(answers)
    return accuracy(right.astype(float), groups)


def tree_distances(
    pred: ArrayLike, label: ArrayLike, tree: Tree, groups: ArrayLike | None = None, *, seed: int = 0
) -> TreeDistances:
    """How far wrong answers lie from the truth in the tree: tiger for cat is 2 edges, tiger for airplane is 7.

    Arguments as in `hierarchical_accuracy`; the interval is a bootstrap over images with errors, or `groups` of them.

    >>> from snellen.measure import tree_distances
    >>> tree = {"cat": "animal", "dog": "animal", "car": "vehicle", "animal": "thing", "vehicle": "thing"}
    >>> tree_distances(["dog", "car", "cat"], ["cat", "cat", "cat"], tree).value  # 2 and 4 edges
    3.0
    """
    answers, truths = _pairs(pred, label)
    empty = _empty(answers)
    wrong = (answers != truths) & ~empty
    lines = {name: ancestors(name, tree) for name in {*answers[~empty].tolist(), *truths.tolist()}}
    distance = np.zeros(answers.shape)
    for run, sample in zip(*np.nonzero(wrong)):
        distance[run, sample] = _edges(lines[answers[run, sample]], lines[truths[sample]])
    counts = dict(sorted(Counter(distance[wrong].astype(int).tolist()).items()))
    columns = np.stack([(distance * wrong).sum(0), wrong.sum(0)], axis=1).astype(np.float64)
    errors, groups = keep(columns, groups, wrong.any(0))
    return TreeDistances(
        float(_mean(columns.sum(0, keepdims=True))[0]),
        *bootstrap_interval(errors, _mean, groups, seed=seed, bounds=(0, inf)),
        int(wrong.any(0).sum()),
        counts,
        {edges: count / sum(counts.values()) for edges, count in counts.items()},
        int(empty.sum()),
    )


def at_level(names: ArrayLike, tree: Tree, level: int) -> NDArray[np.object_]:
    """Each name's ancestor at depth `level`, or the name itself where it lies higher; empty names stay.

    >>> from snellen.measure import at_level
    >>> at_level(["cat", ""], {"cat": "animal", "animal": "thing"}, level=1).tolist()
    ['animal', '']
    """
    if level < 0:
        raise ValueError(f"expected a level of 0 or more, got {level}")
    array = _objects(names)
    lines = {name: ancestors(name, tree) for name in set(array[~_empty(array)].tolist())}
    places = {name: line[max(0, len(line) - 1 - level)] for name, line in lines.items()}
    return _objects([places.get(name, name) for name in array.ravel()]).reshape(array.shape)


def ancestors(name: Hashable, tree: Tree) -> list[Any]:
    """The name, its parent and so on to the root; its depth is the length less 1."""
    if name not in tree and name not in tree.values():
        raise ValueError(f"expected a name of the tree, got '{name}'; add it to the tree or rename it")
    line: list[Any] = [name]
    while line[-1] in tree:
        line.append(tree[line[-1]])
        if len(line) > len(tree) + 1:
            raise ValueError(f"expected a tree, got a circle above '{name}'")
    return line


def tree_depths(tree: Tree) -> dict[Any, int]:
    """The depth of every name of the tree, the root included.

    >>> from snellen.measure import tree_depths
    >>> tree_depths({"cat": "animal", "animal": "thing"})
    {'cat': 2, 'animal': 1, 'thing': 0}
    """
    return {name: len(ancestors(name, tree)) - 1 for name in dict.fromkeys([*tree, *tree.values()])}


def _edges(first: list[Any], second: list[Any]) -> int:
    common = len(set(first) & set(second))
    if not common:
        raise ValueError(f"expected one tree, got '{first[0]}' and '{second[0]}' below different roots")
    return len(first) + len(second) - 2 * common


def _pairs(pred: ArrayLike, label: ArrayLike) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    answers, truths = as_runs(_objects(pred)), _objects(label)
    if truths.shape != answers.shape[1:]:
        raise ValueError(f"expected one label per sample, got {truths.shape} for {answers.shape[1]} samples")
    return answers, truths


def _objects(names: ArrayLike | Iterable[Any]) -> NDArray[np.object_]:
    """The names as Python's own; an array of texts would turn numbers among them into texts."""
    return names.astype(object) if isinstance(names, np.ndarray) else np.array(list(names), dtype=object)  # type: ignore[arg-type]


def _empty(names: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which names say nothing: "", None or nan."""
    return np.array([name is None or name == "" or name != name for name in names.ravel()], bool).reshape(names.shape)


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[:, 0], sums[:, 1])
