"""Observers that draw: guess, and a mixture of two others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.models.observers.evidence import Observer, draw, guess_class
from snellen.notation import text_form


@dataclass(frozen=True)
class GuessObserver:
    """Sees nothing: any class, uniformly, by a hash of the pixels."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return guess_class(images)

    def support(self, images: np.ndarray) -> np.ndarray:
        return np.zeros(images.shape[:3], bool)


@dataclass(frozen=True)
class MixtureObserver:
    """Answers as `first` with probability `weight`, else as `second`: a coin for each image, by a hash of its pixels."""

    first: Observer
    second: Observer
    weight: float = 0.5
    __str__ = text_form

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"expected weight in [0, 1], got {self.weight:g}")

    def heads(self, images: np.ndarray) -> np.ndarray:
        """Which images the first answers, bool [B]."""
        # Named by its parts, so that mixtures of mixtures toss different coins; not by its weight, so that a larger
        # weight moves some images to the first and leaves the rest.
        return draw(images, f"{self.first} or {self.second}") < self.weight

    def answer(self, images: np.ndarray) -> np.ndarray:
        heads = self.heads(images)
        answers = np.empty(len(images), np.int64)
        for mask, observer in ((heads, self.first), (~heads, self.second)):
            if mask.any():  # an observer looks only at its own images: remembering is slow
                answers[mask] = observer.answer(images[mask])
        return answers
