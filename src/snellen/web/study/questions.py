"""Trees of questions: which answers are offered after which, checked against the classes of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.data.dataset import Dataset
from snellen.errors import UserError, option
from snellen.files import expand_home, fit
from snellen.files.yaml_file import read_yaml
from snellen.measure import IRUO_TREE
from snellen.web.study.folder import Question
from snellen.web.study.request import StudyRequest

MOST_CHOICES = 35  # of one question: keys are 1 to 9, then letters
# Leaves that mean the rest of the class above them: the published tree has `bird` beside parrot and poultry.
_OTHERS = {"bird": "other bird", "cat": "other cat", "bear": "other bear", "lizard": "lizard"}


def question_of(request: StudyRequest, data: Dataset) -> Question:
    """What the protocol asks about the classes of the data."""
    text = "What was in the picture?"
    if request.protocol == "forced" and request.tree is None:
        return Question(text, _checked_classes(data), _labels(data.classes))
    name = request.tree or ("iruo" if request.protocol == "kassaw2024" else "data")
    tree = _tree(name, data)
    check_tree(tree, _present_classes(data), name)
    if request.protocol == "forced":
        return Question(text, leaves(tree), _labels([*tree]), tree)
    question = "What is the object at the cross?"
    return Question(question, leaves(tree), _labels([*tree]), tree, click=True, cross=True)


def leaves(tree: Mapping[str, str]) -> tuple[str, ...]:
    """The names that nothing lies under, in the order of the tree."""
    parents = set(tree.values())
    return tuple(name for name in tree if name not in parents)


def check_tree(tree: Mapping[str, str], classes: Sequence[str], source: str) -> None:
    """Refuse a tree by which a class cannot be answered, or in which a question cannot be shown."""
    roots = {parent for parent in tree.values() if parent not in tree}
    if len(roots) != 1:
        names = "', '".join(sorted(roots)) or "none: it is a circle"
        raise UserError(f"expected one root in tree '{source}', got '{names}'; put all under one name")
    for name in tree:
        seen, above = {name}, tree[name]
        while above in tree:
            if above in seen:
                raise UserError(f"tree '{source}' has a circle at '{above}'; each name lies under one other")
            seen.add(above)
            above = tree[above]
    bottom = set(leaves(tree))
    for name in classes:
        if name not in tree:
            raise UserError(f"tree '{source}' misses the class '{name}' of the data; add a line '{name}: PARENT'")
        if name not in bottom:
            raise UserError(
                f"class '{name}' has others under it in tree '{source}'; add a leaf for what is none of them"
            )
    for parent in set(tree.values()):
        count = sum(above == parent for above in tree.values())
        if count > MOST_CHOICES:
            raise UserError(f"'{parent}' has {count} choices in tree '{source}', at most {MOST_CHOICES} can be shown")


def _tree(name: str, data: Dataset) -> dict[str, str]:
    if name == "iruo":
        return dict(IRUO_TREE)
    if name == "data":
        if not data.tree:
            raise UserError(
                f"{data.text} has no tree of classes; give {option('tree')} as a YAML file of class: parent"
            )
        return _ordered(data.tree, data.classes)
    path: Path = expand_home(name)
    content: Any = read_yaml(path, "tree of classes")
    tree: dict[str, str] = fit(content, dict[str, str], path)
    if not tree:
        raise UserError(f"tree '{name}' is empty; expected lines of class: parent")
    return tree


def _ordered(tree: Mapping[str, str], classes: Sequence[str]) -> dict[str, str]:
    """Only what lies above the classes, so that no question ends in nothing."""
    needed: dict[str, str] = {}
    for name in classes:
        while name in tree:
            needed[name] = tree[name]
            name = tree[name]
    return needed


def _present_classes(data: Dataset) -> list[str]:
    """The classes of the data; one without an image, or an image without a class, is refused."""
    counts = [int((data.samples.labels == number).sum()) for number in range(len(data.classes))]
    unknown = int((data.samples.labels < 0).sum())
    if unknown:
        raise UserError(f"{unknown} images of {data.text} have no label; leave them out, for example by ?ids=")
    empty = [name for name, count in zip(data.classes, counts) if not count]
    if empty:
        raise UserError(f"class '{empty[0]}' of {data.text} has no image; leave it out with ?without={','.join(empty)}")
    return list(data.classes)


def _checked_classes(data: Dataset) -> tuple[str, ...]:
    names = _present_classes(data)
    if not 2 <= len(names) <= MOST_CHOICES:
        advice = f"give a tree of questions with {option('tree')}" if len(names) > MOST_CHOICES else "choose other data"
        raise UserError(f"expected 2 to {MOST_CHOICES} classes to choose from, {data.text} has {len(names)}; {advice}")
    return tuple(names)


def _labels(names: Sequence[str]) -> dict[str, str]:
    """What buttons say: names without underscores, and leaves for the rest of a class called so."""
    others = _OTHERS if {"bird", "parrot", "poultry"} <= set(names) else {}
    return {name: others.get(name, name.replace("_", " ")) for name in names}
