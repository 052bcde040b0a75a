"""Observers that remember images: memory of a training world, and the oracle of a test world."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from snellen.data.phantom.draws import mixed
from snellen.data.phantom.world import read_world
from snellen.errors import UserError
from snellen.models.observers.chance import GuessObserver
from snellen.models.observers.evidence import Observer, guess_class, pack_colours
from snellen.notation import text_form

BLOCK = 256  # images rendered at once


@dataclass(frozen=True)
class MemoryObserver:
    """Knows the labels of the images of a training world, and recalls one by at least `share` of its pixels in their place.

    `train` is a phantom world; an image that nothing is recalled for is answered as by `otherwise`.
    """

    share: float = 0.5
    train: str = "phantom:train?n=1000"
    otherwise: Observer = field(default_factory=GuessObserver)
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"expected share in (0, 1], got {self.share:g}")
        read_world(self.train)

    def answer(self, images: np.ndarray) -> np.ndarray:
        album = album_of(self.train)
        place, equal = album.nearest(images)
        recalled = equal >= self.share * images.shape[1] * images.shape[2]
        answers = album.labels[place]
        if not recalled.all():
            answers[~recalled] = self.otherwise.answer(images[~recalled])
        return answers


@dataclass(frozen=True)
class OracleObserver:
    """Knows the images of a world: the class shown in the one with most equal pixels in their place; a guess if none has any.

    It tells what is shown, so where labels are noisy it is wrong exactly where they are.
    """

    world: str = "phantom:test?n=1000"
    __str__ = text_form

    def __post_init__(self) -> None:
        read_world(self.world)

    def answer(self, images: np.ndarray) -> np.ndarray:
        album = album_of(self.world)
        place, equal = album.nearest(images)
        return np.where(equal > 0, album.shown[place], guess_class(images))


@dataclass(frozen=True)
class Album:
    """Images that are remembered: packed colours uint32 [N, pixels], a byte of hash for each, labels and classes shown."""

    side: int
    colours: np.ndarray
    hashes: np.ndarray
    labels: np.ndarray
    shown: np.ndarray

    def nearest(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each image the remembered one with most equal pixels (ties: the first) and how many, int64 [B] each."""
        if images.shape[1:3] != (self.side, self.side):
            raise UserError(
                f"expected images of {self.side}×{self.side} pixels as remembered, got {images.shape[2]}×"
                f"{images.shape[1]}; give the world the data's size"
            )
        colours = pack_colours(images).reshape(len(images), -1)
        nearest = [self._nearest(image, hashes) for image, hashes in zip(colours, _bytes(colours))]
        place, equal = np.array(nearest, np.int64).reshape(-1, 2).T
        return place, equal

    def _nearest(self, colours: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
        """Equal colours have equal hashes, so equal hashes bound equal pixels from above: few colours are compared."""
        bound = np.count_nonzero(self.hashes == hashes, axis=1)
        best = int((self.colours[bound.argmax()] == colours).sum())
        left = np.flatnonzero(bound >= best)
        equal = (self.colours[left] == colours).sum(axis=1)
        return int(left[equal.argmax()]), int(equal.max())


@lru_cache(maxsize=4)
def album_of(text: str) -> Album:
    """The album of a phantom world."""
    world = read_world(text)
    recipe = world.recipe(np.arange(world.n))
    blocks = [np.arange(start, min(start + BLOCK, world.n)) for start in range(0, world.n, BLOCK)]
    colours = np.concatenate([pack_colours(world.render(block).images).reshape(len(block), -1) for block in blocks])
    return Album(world.size, colours, _bytes(colours), recipe.label, recipe.true_class)


def _bytes(colours: np.ndarray) -> np.ndarray:
    """A hash of one byte for each colour."""
    return (mixed(colours.astype(np.uint64)) >> np.uint64(56)).astype(np.uint8)
