"""The warning of a check that a number should not be believed yet, and the answers a check may look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from snellen.measure import compare

FEWEST = 30  # images below which chance alone could trigger the finer checks
FEWEST_GROUPS = 10  # groups, such as videos, below which the same is true of them
GAIN = 0.05  # what another reading of the same images must bring, as a share, before a check speaks


@dataclass(frozen=True)
class Doubt:
    """A reason to look before believing: `text` says what was seen, `advice` what to do, both for people.

    `name` is for machines; `model` is empty where the doubt is about the data.
    """

    name: str
    text: str
    advice: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.text} — {self.advice}"

    def to_json(self) -> dict[str, str]:
        """The four texts by name, as findings.json has them."""
        return asdict(self)


@dataclass(frozen=True)
class CleanAnswers:
    """One run's answers to the unmodified images that have a label: arrays [samples], classes by index.

    `who` is how a sentence calls it; `stated` is the accuracy that its maker states, 0 to 1. `groups` are those of the images,
    such as videos, where the data has them. `chance` is what guessing gets right, where it is offered some of the classes only.
    """

    who: str
    model: str
    pred: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    classes: Sequence[str]
    stated: float | None = None
    groups: np.ndarray | None = None
    chance: float | None = None

    @property
    def correct(self) -> np.ndarray:
        """1.0 where an answer is the label, else 0.0."""
        return (self.pred == self.labels).astype(np.float64)


def clearly_better(new: np.ndarray, own: np.ndarray, groups: np.ndarray | None = None) -> bool:
    """Whether 0/1 scores are better on the same images: by 5 points and with p < 0.001.

    Images of one group, such as a video, are alike and count as one: five points over the groups too, p of them.
    """
    if len(own) == 0 or new.mean() - own.mean() < GAIN:
        return False
    if groups is not None:
        new, own = _mean_by_group(new, groups), _mean_by_group(own, groups)
        if len(own) < FEWEST_GROUPS or new.mean() - own.mean() < GAIN:
            return False
    return bool(compare(new, own).p < 0.001)


def _mean_by_group(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    _, member = np.unique(groups, return_inverse=True)
    means: np.ndarray = np.bincount(member, values) / np.bincount(member)
    return means
