"""Error consistency: kappa of two answerers, between people, of people with a model; people who differ, images in groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coverage_cases.row import Row
from snellen.measure import ErrorConsistency, error_consistency

PARTS = 2
Floats = np.ndarray
REPEATS = 400


@dataclass(frozen=True)
class Crowd:
    """`people` answer `images`, or a share `seen` of them, each with `accuracy`: ability, ease of the image and luck decide.

    `differ` is how differently people depend on what makes an image easy: 0 for all alike. `groups` of images are easy together.
    """

    words: str
    people: int
    images: int
    accuracy: float = 0.8
    seen: float = 1.0
    differ: float = 0.0
    groups: int = 0

    def draw(self, random: np.random.Generator, people: int, images: int, groups: int) -> tuple[Floats, Floats | None]:
        """Right or wrong [people, images], and groups."""
        ease, members = random.normal(size=images), None
        if self.groups:
            members = np.arange(images) * groups // images
            ease = np.sqrt(0.5) * (ease + random.normal(size=groups)[members])
        load = 0.8 + self.differ * random.uniform(-1, 1, (people, 1))
        reached = load * ease + 0.3 * random.normal(size=(people, 1)) + random.normal(size=(people, images))
        bound = np.quantile(np.random.default_rng(0).normal(size=100_000), 1 - self.accuracy)
        right = (reached > bound * np.sqrt(1.09 + load**2)).astype(float)
        for row in right:
            row[random.permutation(images)[round(self.seen * images) :]] = np.nan
        return right, members

    def truth(self) -> float:
        """The mean over many people and images."""
        random = np.random.default_rng(9)
        many = [self.draw(random, 60, 20_000, 20_000) for _ in range(3)]
        return float(np.mean([error_consistency(right, repeats=0).value for right, _ in many]))


CROWDS = (
    Crowd("two answerers", 2, 200),
    Crowd("two answerers, accuracy 0.9", 2, 400, 0.9),
    Crowd("5 people", 5, 200),
    Crowd("20 people, 200 of 552 images each", 20, 552, seen=200 / 552),
    Crowd("10 people, accuracy 0.6", 10, 200, 0.6),
    Crowd("10 people who differ", 10, 400, differ=0.8),
    Crowd("10 people, 40 groups of images", 10, 400, groups=40),
    Crowd("20 people, 50 images", 20, 50, 0.7),
)
COPIED = (("a model copies 0.3 of one person's answers", 200, 0.3), ("a model copies 0.7 of them", 100, 0.7))


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """Two answerers to 20 people, 50 to 552 images, kappas of 0.1 to 0.7."""
    simulations = max(1, simulations // 2)
    found = [_row(simulations, seed, place, CROWDS[place]) for place in range(part, len(CROWDS), PARTS)]
    return found + ([_copied(simulations, seed, *case) for case in COPIED] if part == PARTS - 1 else [])


def _row(simulations: int, seed: int, place: int, crowd: Crowd) -> Row:
    random, truth = np.random.default_rng([seed, place]), crowd.truth()

    def world(turn: int) -> ErrorConsistency:
        right, groups = crowd.draw(random, crowd.people, crowd.images, crowd.groups)
        return error_consistency(right, None, groups, repeats=REPEATS, seed=turn)

    return _counted(crowd.words, f"{crowd.images} images", truth, world, simulations)


def _copied(simulations: int, seed: int, words: str, images: int, share: float) -> Row:
    random = np.random.default_rng([seed, images])

    def world(turn: int) -> ErrorConsistency:
        person, own = random.random((2, images)) < 0.7
        model = np.where(random.random(images) < share, person, own)
        return error_consistency(person, model, repeats=REPEATS, seed=turn)

    return _counted(words, f"{images} images", share, world, simulations)


def _counted(words: str, images: str, truth: float, world: Callable[[int], ErrorConsistency], simulations: int) -> Row:
    found = [world(turn) for turn in range(simulations)]
    hits = sum(each.low <= truth <= each.high for each in found)
    width = float(np.mean([each.high - each.low for each in found]))
    case = f"{words}, {images}: true {truth:.3f}, interval {width:.2f} wide"
    promise = "the interval holds the truth at least 93% of the time"
    return Row("Error consistency", case, promise, hits / simulations, 0.93, 1.0, simulations)
