"""Observers that vote with the marks of pixels: background, border, texture, glance, centre and patches.

Where each looks, its support, is therefore known: the pixels whose marks it counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.marks import MAIN, NOTHING, OTHER, read
from snellen.models.observers.evidence import main_object, plurality, scene_votes, texture_votes
from snellen.notation import text_form


@dataclass(frozen=True)
class BackgroundObserver:
    """Sees only the scene: the class of the number of the scene that most pixels show."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return plurality(scene_votes(read(images)), images)

    def support(self, images: np.ndarray) -> np.ndarray:
        return read(images) < MAIN


@dataclass(frozen=True)
class BorderObserver:
    """As `background`, but sees only a strip along the border of the image, `width` of the image's side; else it guesses."""

    width: float = 0.125
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 < self.width <= 0.5:
            raise ValueError(f"expected width in (0, 0.5], got {self.width:g}")

    def strip(self, height: int, width: int) -> np.ndarray:
        """Its pixels, bool [H, W]: at least one wide."""
        strip = np.ones((height, width), bool)
        down, across = (max(round(self.width * length), 1) for length in (height, width))
        strip[down : height - down, across : width - across] = False
        return strip

    def answer(self, images: np.ndarray) -> np.ndarray:
        codes = np.where(self.strip(*images.shape[1:3]), read(images), np.uint8(NOTHING))
        return plurality(scene_votes(codes), images)

    def support(self, images: np.ndarray) -> np.ndarray:
        return (read(images) < MAIN) & self.strip(*images.shape[1:3])


@dataclass(frozen=True)
class TextureObserver:
    """Sees only the main object's texture: the class of the number of the one that most of its pixels show."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return plurality(texture_votes(read(images)), images)

    def support(self, images: np.ndarray) -> np.ndarray:
        return main_object(images)


@dataclass(frozen=True)
class GlanceObserver:
    """Sees the main object's texture, and beside it the scene, whose pixels have `scene` (0 to 1) of a vote each."""

    scene: float = 0.5
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 <= self.scene <= 1:
            raise ValueError(f"expected scene in [0, 1], got {self.scene:g}")

    def answer(self, images: np.ndarray) -> np.ndarray:
        codes = read(images)
        return plurality(texture_votes(codes) + self.scene * scene_votes(codes), images)

    def support(self, images: np.ndarray) -> np.ndarray:
        return np.where(main_object(images), 1, self.scene * (read(images) < MAIN))


@dataclass(frozen=True)
class CentreObserver:
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

    def support(self, images: np.ndarray) -> np.ndarray:
        window = np.zeros(images.shape[1:3], bool)
        window[self.window(*images.shape[1:3])] = True
        return main_object(images) & window


@dataclass(frozen=True)
class PatchesObserver:
    """Sees patches of `size` × `size` pixels on a grid: each votes for texture t if all of it is main object of texture t.

    Shuffling whose tiles are whole patches changes nothing for it; smaller tiles tear the patches apart.
    """

    size: int = 8
    __str__ = text_form

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"expected size of at least 1 pixel, got {self.size}")

    def answer(self, images: np.ndarray) -> np.ndarray:
        return plurality(texture_votes(self._pure(images)), images)

    def support(self, images: np.ndarray) -> np.ndarray:
        pure = self._pure(images) != NOTHING
        whole = np.zeros(images.shape[:3], bool)
        grown = pure.repeat(self.size, 1).repeat(self.size, 2)
        whole[:, : grown.shape[1], : grown.shape[2]] = grown
        return whole

    def _pure(self, images: np.ndarray) -> np.ndarray:
        """The code of each patch that is all main object of one texture, NOTHING for the others, uint8 [B, rows, columns]."""
        codes = read(images)
        down, across = codes.shape[1] // self.size, codes.shape[2] // self.size
        cut = codes[:, : down * self.size, : across * self.size]
        patches = cut.reshape(len(codes), down, self.size, across, self.size).swapaxes(2, 3)
        first = patches[..., 0, 0]
        pure = (patches == first[..., None, None]).all((3, 4)) & (first >= MAIN) & (first < OTHER)
        return np.where(pure, first, np.uint8(NOTHING))
