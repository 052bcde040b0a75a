"""Which classes a choice offers, where it does not offer all of them: the right one and some others.

Hard options come in groups of classes that are alike: each class of a group is offered with the same others, so that the options
themselves do not tell which of them is right, as they would if every class had its own most similar ones around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.table import Column, read_table
from snellen.models.text_answers import plain

MOST_GROUPED = 2_000  # classes
ROUNDS = 10  # of exchanges between groups, at most


@dataclass(frozen=True)
class OptionOffer:
    """`count` of `classes` options, drawn for each image; or `groups` of at least so many classes, one of which is offered."""

    count: int
    classes: int
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def facts(self) -> list[Any]:
        """What a question depends on."""
        return [self.count, self.groups]

    def offered(self, truth: int, draws: Sequence[bytes]) -> list[int]:
        """The classes that are offered about an image of the class `truth`, −1 where that is not known; `draws` has one for each
        class."""
        if self.groups:
            number = int.from_bytes(draws[0]) % len(self.groups)
            return list(next((group for group in self.groups if truth in group), self.groups[number]))
        others = sorted((number for number in range(self.classes) if number != truth), key=draws.__getitem__)
        return [truth, *others[: self.count - 1]] if truth >= 0 else others[: self.count]

    def chance(self, none: bool) -> float:
        """The share that guessing gets right of images of all classes alike, where none of these is offered too or not."""
        sizes = [len(group) for group in self.groups for _ in group] or [self.count]
        return sum(1 / (size + none) for size in sizes) / len(sizes)


def offer_of(count: int, distractors: str | Path, names: Sequence[str], classes: Sequence[str]) -> OptionOffer:
    """The options of some classes with these spoken `names`: any (`random`), by their `names`, or by a table of confusions."""
    if count > len(names):
        raise UserError(f"#options={count} are more than the {len(names)} classes; leave it out to offer all of them")
    if distractors == "random":
        return OptionOffer(count, len(names))
    if len(names) > MOST_GROUPED:
        raise UserError(
            f"{len(names):,} classes are too many for hard options, of at most {MOST_GROUPED:,}; leave #distractors= out"
        )
    likeness = alike_by_name(names) if distractors == "names" else read_confusions(expand_home(distractors), classes)
    return OptionOffer(count, len(names), grouped(likeness, count))


def alike_by_name(names: Sequence[str]) -> np.ndarray:
    """float [classes, classes]: the share of triples of letters that two names have in common (Dice), 0 to 1."""
    triples = [{f" {plain(name)} "[at : at + 3] for at in range(len(plain(name)))} for name in names]
    place = {triple: number for number, triple in enumerate(sorted(set().union(*triples)))}
    has = np.zeros((len(names), len(place)))
    for row, some in zip(has, triples):
        row[[place[triple] for triple in some]] = 1
    sizes = has.sum(1)
    return 2 * (has @ has.T) / np.maximum(sizes[:, None] + sizes, 1)


def read_confusions(file: Path, classes: Sequence[str]) -> np.ndarray:
    """float [classes, classes]: how often two classes were taken for each other, as shares of the images of each, of a CSV table
    with the columns label, answer and, where rows stand for several images, count.

    Classes are named, or numbered as the data do; answers that are none of them do not count.
    """
    text, whole = Column(required=True), Column("float", filled=True, least=0, most=1e12)
    table = read_table(file, {"label": text, "answer": text, "count": whole}, "table of confusions")
    names = [*map(str, range(len(classes))), *classes]  # a class that is called by a number is meant by it
    places = {name: number % len(classes) for number, name in enumerate(names)}
    labels, answers = (table[name].map(storable) for name in ("label", "answer"))
    if strangers := sorted(set(labels) - set(places)):
        raise UserError(f"'{file}': expected classes of the data as label, got '{strangers[0][:100]}'")
    known = answers.isin(list(places))
    counts = np.zeros((len(classes), len(classes)))
    at = labels[known].map(places), answers[known].map(places)
    times = table["count"][known].to_numpy() if "count" in table else 1.0
    np.add.at(counts, (at[0].to_numpy(int), at[1].to_numpy(int)), times)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return shares + shares.T


def grouped(likeness: np.ndarray, count: int) -> tuple[tuple[int, ...], ...]:
    """Groups of at least `count` classes that are alike: built one by one around the likest pair that is left, then improved by
    exchanging classes between groups as long as that makes the sum of likenesses inside them larger."""
    alike = np.array(likeness, np.float64)
    np.fill_diagonal(alike, 0)
    classes = len(alike)
    owner = np.full(classes, -1)
    sizes = [len(part) for part in np.array_split(np.arange(classes), classes // count)]
    for number, size in enumerate(sizes):
        left = np.flatnonzero(owner < 0)
        within = alike[np.ix_(left, left)] - np.eye(len(left))  # a class is no pair with itself
        members = list(left[list(np.unravel_index(within.argmax(), within.shape))]) if len(left) > 1 else list(left)
        while len(members) < size:
            rest = np.setdiff1d(left, members)
            members.append(rest[alike[np.ix_(rest, members)].sum(1).argmax()])
        owner[members] = number
    _exchange(alike, owner, len(sizes))
    groups = [tuple(np.flatnonzero(owner == number).tolist()) for number in range(len(sizes))]
    return tuple(sorted(groups))


def _exchange(alike: np.ndarray, owner: np.ndarray, groups: int) -> None:
    """Exchange classes between groups, changing their `owner`, as long as that makes groups more alike."""
    for _ in range(ROUNDS):
        to_group = alike @ np.eye(groups)[owner]  # [classes, groups]: how alike a class is to the members of a group
        changed = False
        for first in range(len(owner)):
            every = np.arange(len(owner))
            gain = (
                to_group[first, owner]
                + to_group[:, owner[first]]
                - to_group[first, owner[first]]
                - to_group[every, owner]
            )
            gain = np.where(owner == owner[first], 0, gain - 2 * alike[first])
            second = int(gain.argmax())
            if gain[second] > 1e-9:
                to_group[:, owner[first]] += alike[:, second] - alike[:, first]
                to_group[:, owner[second]] += alike[:, first] - alike[:, second]
                owner[first], owner[second] = owner[second], owner[first]
                changed = True
        if not changed:
            return
