"""Answers of people: who saw which image, and what they said."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ResponseColumns = Any
"""A mapping of columns, or anything with columns that `frame[name]` gives: a data frame, a table, a structured array."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Responses:
    """Responses as counts: `right` and `seen` [observers, images] count right answers and all answers.

    `of_image` has the columns that belong to images, such as level, one value per image.
    """

    observers: tuple[Hashable, ...]
    samples: tuple[Hashable, ...]
    right: Floats
    seen: Floats
    of_image: dict[str, tuple[Any, ...]]

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Which images at least two people saw, bool [images]."""
        return np.asarray((self.seen > 0).sum(0) >= 2)

    def only(self, observers: Collection[Hashable]) -> Responses:
        """The responses of these observers, and the images that they saw."""
        rows = np.array([observer in observers for observer in self.observers], bool)
        images = self.seen[rows].any(0)
        return Responses(
            tuple(observer for observer in self.observers if observer in observers),
            tuple(select(self.samples, images)),
            self.right[np.ix_(rows, images)],
            self.seen[np.ix_(rows, images)],
            {name: tuple(select(values, images)) for name, values in self.of_image.items()},
        )

    def accuracy(self) -> Floats:
        """q [images]: the share of right answers to each image (Kassaw et al. 2024, equation 1)."""
        return np.asarray(self.right.sum(0) / self.seen.sum(0))


def read_responses(frame: ResponseColumns, of_image: Sequence[str] = ("level",)) -> Responses:
    """The responses of a frame with the columns observer, sample, label, answer and those of `of_image`, one row per answer.

    An answer that is empty or missing is wrong. An image has one label and one value of each column of `of_image`; where one
    photograph was shown under several, each is an image and needs an id of its own.
    """
    names = ("observer", "sample", "label", "answer", *of_image)
    columns = {name: column(frame, name) for name in names}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{len(values)} of {name}" for name, values in columns.items())
        raise ValueError(f"expected columns of one length, got {lengths}")
    observers, observer = _numbered(columns["observer"], "observer")
    samples, sample = _numbered(columns["sample"], "sample")
    right, seen = (np.zeros((len(observers), len(samples))) for _ in range(2))
    correct = [said == label for said, label in zip(columns["answer"], columns["label"])]
    np.add.at(right, (observer, sample), np.array(correct, np.float64))
    np.add.at(seen, (observer, sample), 1.0)
    values = {name: _one_per_image(columns["sample"], columns[name], name) for name in ("label", *of_image)}
    return Responses(observers, samples, right, seen, values)


def without_observers(frame: ResponseColumns, observers: Collection[Hashable]) -> dict[str, list[Any]]:
    """The columns of a frame without the rows of these observers: those of `HumanAccuracy.outliers`, say.

    >>> from snellen.measure import without_observers
    >>> without_observers({"observer": ["ada", "ben"], "answer": ["cat", "dog"]}, ["ben"])
    {'observer': ['ada'], 'answer': ['cat']}
    """
    stays = np.array([observer not in observers for observer in column(frame, "observer")], bool)
    return {name: select(column(frame, name), stays) for name in _names(frame)}


def column(frame: ResponseColumns, name: str) -> list[Any]:
    """A column as a list of Python's own values."""
    try:
        values = frame[name]
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"expected a column '{name}', got {', '.join(_names(frame)) or 'none'}") from error
    if isinstance(values, (list, tuple)):  # an array of texts would turn numbers among them into texts
        return [value.item() if isinstance(value, np.generic) else value for value in values]
    return list(np.asarray(values).tolist())


def _names(frame: ResponseColumns) -> list[str]:
    if isinstance(frame, np.ndarray):
        return list(frame.dtype.names or ())
    return [str(name) for name in (frame if isinstance(frame, Mapping) else getattr(frame, "columns", ()))]


def _numbered(values: list[Any], name: str) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The different values in order of appearance, and the place of each among them."""
    if any(value is None or value != value or value == "" for value in values):
        raise ValueError(f"expected a value of '{name}' in every row, got an empty one")
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return tuple(places), np.array([places[value] for value in values], np.int64)


def _one_per_image(samples: list[Any], values: list[Any], name: str) -> tuple[Any, ...]:
    of: dict[Any, Any] = {}
    for sample, value in zip(samples, values):
        if value != value:
            raise ValueError(f"expected a value of '{name}' in every row, got nan for sample '{sample}'")
        if of.setdefault(sample, value) != value:
            raise ValueError(
                f"expected one {name} per sample, got '{of[sample]}' and '{value}' for '{sample}'; give each image its own id"
            )
    return tuple(of.values())


def select(values: Sequence[Any], stays: NDArray[np.bool_]) -> list[Any]:
    """The values that stay."""
    return [value for value, stay in zip(values, stays) if stay]
