"""The order in which things are best tried: by how often each succeeded so far, with what is known of all where little is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WEIGHT = 2.0  # how many tries the wider knowledge counts for


@dataclass
class Record:
    """How often each of `things` was tried, and succeeded, on objects of each of `classes`."""

    classes: int
    things: int
    tries: np.ndarray = field(init=False)
    hits: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.tries, self.hits = np.zeros((2, self.classes, self.things))

    def add(self, label: int, order: np.ndarray, tried: int, success: int | None) -> None:
        """One object of a class: the first `tried` of the order were tried, of which the last, `success`, did it (or none)."""
        self.tries[label, order[:tried]] += 1
        if success is not None:
            self.hits[label, success] += 1


def best_first(record: Record) -> np.ndarray:
    """int64 [classes, things]: for each class all things, the most promising first, ties in their own order.

    The rate on a class is drawn towards the rate on all classes, and that towards the mean of all things.
    """
    tries, hits = record.tries.sum(0), record.hits.sum(0)
    mean = (hits.sum() + 1) / (tries.sum() + 2)
    overall = (hits + WEIGHT * mean) / (tries + WEIGHT)
    rates = (record.hits + WEIGHT * overall) / (record.tries + WEIGHT)
    return np.argsort(-rates, axis=1, kind="stable")
