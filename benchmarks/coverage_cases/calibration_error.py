"""The expected calibration error (ECE): corrected for noise, with the interval of an inverted test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coverage_cases.row import Row
from snellen.measure import calibration_error

PARTS = 2
BINS = 15
Floats = np.ndarray


@dataclass(frozen=True)
class World:
    """`count` images and `runs` runs; `right` gives the chance of a right answer at a confidence."""

    words: str
    count: int
    runs: int
    right: Callable[[Floats], Floats]
    sharp: bool = False
    groups: int = 0

    def confidence(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return 0.5 + 0.5 * random.beta(8, 1, shape) if self.sharp else random.uniform(0.4, 1, shape)

    def truth(self) -> float:
        sure = self.confidence(np.random.default_rng(9), (2_000_000,))
        place = np.ceil(sure * BINS).astype(int)
        return float(np.abs(np.bincount(place, self.right(sure) - sure)).sum() / len(sure))

    def draw(self, random: np.random.Generator) -> tuple[Floats, Floats, Floats | None]:
        """Confidence and correct [runs, count], and groups. Images of one group have the same luck on half of their answers."""
        sure = self.confidence(random, (self.runs, self.count))
        luck, groups = random.random(sure.shape), None
        if self.groups:
            groups = random.integers(self.groups, size=self.count)
            shared = random.random((self.runs, self.groups))[:, groups]
            luck = np.where(random.random(sure.shape) < 0.5, shared, luck)
        return sure, (luck < self.right(sure)).astype(float), groups


def too_sure(gap: float) -> Callable[[Floats], Floats]:
    return lambda sure: np.clip(sure - gap, 0, 1)


def in_one_bin(gap: float) -> Callable[[Floats], Floats]:
    return lambda sure: np.where(sure > 14 / 15, np.clip(sure - 9 * gap, 0, 1), sure)


def tilted(gap: float) -> Callable[[Floats], Floats]:
    return lambda sure: np.clip(sure + gap * (sure - 0.7) / 0.15, 0, 1)


WORLDS = (
    World("perfect", 450, 2, too_sure(0)),
    World("too sure everywhere", 450, 2, too_sure(0.03)),
    World("too sure everywhere", 1000, 5, too_sure(0.02)),
    World("too sure in one bin", 450, 2, in_one_bin(0.03)),
    World("too sure in one bin", 2000, 2, in_one_bin(0.01)),
    World("unsure, then too sure", 450, 2, tilted(0.05)),
    World("far too sure", 1000, 1, too_sure(0.3)),
    World("mostly above 90% sure, perfect", 450, 2, too_sure(0), sharp=True),
    World("mostly above 90% sure, too sure", 450, 2, too_sure(0.03), sharp=True),
    World("perfect", 20, 1, too_sure(0)),
    World("mostly above 90% sure, perfect", 20, 1, too_sure(0), sharp=True),
    World("far too sure", 20, 1, too_sure(0.3)),
    World("too sure everywhere", 60, 1, too_sure(0.05)),
    World("perfect", 450, 2, too_sure(0), groups=30),
    World("too sure everywhere", 450, 2, too_sure(0.03), groups=30),
    World("too sure everywhere", 1000, 5, too_sure(0.02), groups=50),
    World("too sure everywhere", 450, 1, too_sure(0.05), groups=10),
)


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """Errors of 0 to 0.3, in all bins or in one, on 20 to 2,000 images, alone and in groups."""
    return [_row(simulations, seed, place, WORLDS[place]) for place in range(part, len(WORLDS), PARTS)]


def _row(simulations: int, seed: int, place: int, world: World) -> Row:
    random, truth, hits, found = np.random.default_rng([seed, place]), world.truth(), 0, []
    for _ in range(simulations):
        sure, right, groups = world.draw(random)
        error = calibration_error(sure, right, BINS, groups)
        hits += error.low <= truth + 1e-6 and truth <= error.high + 1e-6
        found.append((error.value, error.plug_in))
    value, plug_in = np.mean(found, axis=0)
    grouped = f" in {world.groups} groups" if world.groups else ""
    case = (
        f"{world.count:,} images × {world.runs}{grouped}, {world.words}: true {truth:.3f}; mean estimate {value:.3f}, "
        f"plug-in {plug_in:.3f}"
    )
    promise = "the interval holds the truth at least 93% of the time"
    return Row("Calibration error", case, promise, hits / simulations, 0.93, 1.0, simulations)
