"""The warning of a check that a number should not be believed yet, and the answers a check may look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

FEWEST = 30  # images below which chance alone could trigger the finer checks
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
        return asdict(self)


@dataclass(frozen=True)
class Clean:
    """One run's answers to the unmodified images that have a label: arrays [samples], classes by index.

    `who` is how a sentence calls it; `stated` is the accuracy that its maker states, 0 to 1.
    """

    who: str
    model: str
    pred: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    classes: Sequence[str]
    stated: float | None = None

    @property
    def correct(self) -> np.ndarray:
        return (self.pred == self.labels).astype(np.float64)
