"""Surveys: walks over a whole dataset that add up what a model shows inside, such as the features of a layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort.distortion import Stimulus

if TYPE_CHECKING:
    from snellen.models.model import Model


@dataclass(frozen=True)
class Ground:
    """What a survey walks over: a model, the images of a dataset on its canvas, `batch` at once, decoded by so many `threads`.

    `checkpoint` is where it may keep its sums, so that a stopped survey continues; `report` hears of images as they are done;
    `seed` is that of its draws.
    """

    model: Model
    data: Dataset
    canvas: Canvas
    batch: int
    threads: int = 1
    checkpoint: Path | None = None
    report: Callable[[int], None] = lambda images: None
    seed: int = 0


@dataclass(frozen=True)
class SurveyTable:
    """What a survey counted: rows, such as one per unit of a layer, and the things that lists in its rows speak of, by name."""

    rows: Sequence[Mapping[str, Any]]
    things: Mapping[str, Sequence[Any]]


class SurveyRequest(Stimulus, ABC):
    """What an audit declares: a frozen dataclass with a text form, in place of a cell's distortion."""

    @property
    @abstractmethod
    def walks(self) -> int:
        """How many times all images are shown."""

    @abstractmethod
    def check(self, data: Dataset) -> None:
        """Refuse data that it cannot work with. Called for the plan."""

    @abstractmethod
    def run(self, ground: Ground) -> SurveyTable:
        """What it counted, in memory that does not grow with the number of images."""
