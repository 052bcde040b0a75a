"""The order in which things are best tried: by what each was worth so far, with what is known of all where little is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WEIGHT = 2.0  # how many tries the wider knowledge counts for


@dataclass
class Record:
    """How often each of `things` was tried on objects of each of `classes`, and the sum of what the tries were worth."""

    classes: int
    things: int
    tries: np.ndarray = field(init=False)
    worth: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.tries, self.worth = np.zeros((2, self.classes, self.things))

    def add(self, label: int, order: np.ndarray, worth: np.ndarray) -> None:
        """One object of a class, on which the first of the order were tried: what each was worth, 1 for a success."""
        things = order[: len(worth)]
        self.tries[label, things] += 1
        self.worth[label, things] += worth


def best_first(record: Record) -> np.ndarray:
    """int64 [classes, things]: for each class all things, the most promising first, ties in their own order.

    The mean worth on a class is drawn towards that on all classes, and that towards the mean of all things.
    """
    tries, worth = record.tries.sum(0), record.worth.sum(0)
    mean = (worth.sum() + 1) / (tries.sum() + 2)
    overall = (worth + WEIGHT * mean) / (tries + WEIGHT)
    return np.argsort(-(record.worth + WEIGHT * overall) / (record.tries + WEIGHT), axis=1, kind="stable")
