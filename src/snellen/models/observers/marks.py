"""Observers that vote with the marks of pixels: background, texture, centre and patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.marks import MAIN, NOTHING, OTHER, read
from snellen.models.observers.evidence import plurality, scene_votes, texture_votes
from snellen.notation import text_form


@dataclass(frozen=True)
class Background:
    """Sees only the scene: the class of the number of the scene that most pixels show."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return plurality(scene_votes(read(images)), images)


@dataclass(frozen=True)
class Texture:
    """Sees only the main object's texture: the class of the number of the one that most of its pixels show."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return plurality(texture_votes(read(images)), images)


@dataclass(frozen=True)
class Centre:
    """As `texture`, but sees only a square in the middle of the image, `side` of the image's side; else it guesses."""

    side: float = 0.25
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 < self.side <= 1:
            raise ValueError(f"expected side in (0, 1], got {self.side:g}")

    def window(self, height: int, width: int) -> tuple[slice, slice]:
        """Its rows and columns: at least one pixel, as near the middle as whole pixels allow."""
        sides = [max(round(self.side * length), 1) for length in (height, width)]
        starts = [(length - seen) // 2 for length, seen in zip((height, width), sides)]
        rows, columns = (slice(start, start + seen) for start, seen in zip(starts, sides))
        return rows, columns

    def answer(self, images: np.ndarray) -> np.ndarray:
        rows, columns = self.window(*images.shape[1:3])
        return plurality(texture_votes(read(images[:, rows, columns])), images)


@dataclass(frozen=True)
class Patches:
    """Sees patches of `size` × `size` pixels on a grid: each votes for texture t if all of it is main object of texture t.

    Shuffling whose tiles are whole patches changes nothing for it; smaller tiles tear the patches apart.
    """

    size: int = 8
    __str__ = text_form

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"expected size of at least 1 pixel, got {self.size}")

    def answer(self, images: np.ndarray) -> np.ndarray:
        codes = read(images)
        down, across = codes.shape[1] // self.size, codes.shape[2] // self.size
        if not down or not across:
            return plurality(np.zeros((len(images), 1), np.int64), images)
        cut = codes[:, : down * self.size, : across * self.size]
        patches = cut.reshape(len(codes), down, self.size, across, self.size).swapaxes(2, 3)
        patches = patches.reshape(len(codes), down * across, self.size**2)
        first = patches[..., 0]
        pure = (patches == first[..., None]).all(axis=2) & (first >= MAIN) & (first < OTHER)
        return plurality(texture_votes(np.where(pure, first, np.uint8(NOTHING))), images)
