"""Two models of known accuracy on the same images, as the sides of a gate: no pixel is drawn and no network run.

An answer is right where a sum of normal effects is above a threshold: of the image, of its group, of model and group, of model
and image, and of the single answer. All variances add to 1, so the accuracy of all images there are is Φ(threshold), exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from snellen.audits.facts import NO_FACTS
from snellen.audits.stored_finding import StoredFinding
from snellen.check.side import Listing, Measured, ModelCell, measured
from snellen.measure import accuracy


@dataclass(frozen=True)
class World:
    """So many images, a share of which a model gets right; `groups` of equal size (0: none), `runs` of each model.

    A `rare` share of the images is of a class of which every second is right.
    """

    name: str
    images: int
    accuracy: float
    groups: int = 0
    runs: int = 1
    rare: float = 0.0

    @property
    def each(self) -> np.ndarray:
        """How likely each image is right, [samples]."""
        hard = np.arange(self.images) < self.rare * self.images
        return np.where(hard, 0.5, (self.accuracy - 0.5 * self.rare) / (1 - self.rare))


WORLDS = (
    World("500 images", 500, 0.8),
    World("two classes, 200 images", 200, 0.65),
    World("imbalanced, 2,000 images, a rare class of 3%", 2000, 0.97, rare=0.03),
    World("tiny, 40 images", 40, 0.8),
    World("600 images in 30 videos", 600, 0.8, groups=30),
    World("three runs, 300 images", 300, 0.8, runs=3),
)


@dataclass(frozen=True)
class PlantedSide:
    """A run whose answers [questions, runs, samples] are known."""

    world: World
    scores: np.ndarray
    groups: np.ndarray | None
    source: str = "planted"
    created: str = ""
    snellen: str = ""

    @property
    def models(self) -> Mapping[str, Sequence[str]]:
        return {"net": [str(run) for run in range(self.world.runs)]}

    @cached_property
    def stored(self) -> list[StoredFinding[Any]]:
        return [self._finding(place) for place in range(len(self.scores))]

    @property
    def findings(self) -> list[Measured]:
        return [measured(finding) for finding in self.stored]

    def listing(self, on: str) -> Listing | None:
        return Listing(np.arange(self.world.images, dtype=np.uint64) << np.uint64(24), self.groups)

    def answers(self, question: ModelCell) -> np.ndarray | None:
        return self.scores[int(question.distortion)]

    def read_ahead(self, findings: object) -> None:
        """Everything is in memory."""

    def _finding(self, place: int) -> StoredFinding[Any]:
        estimate = accuracy(self.scores[place], self.groups)
        return StoredFinding(
            audit="some", name="accuracy", model="net", value=estimate.value, low=estimate.low, high=estimate.high,
            n=estimate.n, better="higher", unit="share", on="test", seed=0, distortions=[str(place)], facts=NO_FACTS,
            per_run=[], text="", interference=None, label=f"ModelCell {place}",
        )  # fmt: skip


def draw(world: World, questions: int, drop: float, random: np.random.Generator) -> tuple[PlantedSide, PlantedSide]:
    """A model as good as its baseline but on the first question, on which it is worse by `drop`; and that baseline."""
    images, clustered = world.images, world.groups > 0
    parts = (
        {"image": 0.45, "group": 0.2, "own group": 0.05} if clustered else {"image": 0.7, "group": 0, "own group": 0}
    )
    members = np.arange(images) % world.groups if clustered else np.zeros(images, int)
    size = max(world.groups, 1)
    shared = parts["image"] ** 0.5 * random.normal(size=images)
    shared += parts["group"] ** 0.5 * random.normal(size=size)[members]
    sides = []
    for lost in (drop, 0.0):
        own = parts["own group"] ** 0.5 * random.normal(size=size)[members] + 0.1**0.5 * random.normal(size=images)
        single = 0.2**0.5 * random.normal(size=(questions, world.runs, images))
        level = np.tile(ndtri(world.each), (questions, 1, 1))
        level[0] = ndtri(world.each - lost)
        right = (shared + own + single + level > 0).astype(float)
        sides.append(PlantedSide(world, right, members.astype(str) if clustered else None))
    return sides[0], sides[1]
