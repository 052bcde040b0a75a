"""Evidence: what observers read from pixels, and how an answer becomes probabilities."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from snellen.data.phantom.draws import mixed, word_key
from snellen.data.phantom.marks import MAIN, OTHER, read
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES

CLASSES = len(SHAPES)
SURE = 0.9  # the probability of the answer; the other classes share the rest
CODES = 64


@runtime_checkable
class Observer(Protocol):
    """Somebody whose answer is known by construction."""

    def answer(self, images: np.ndarray) -> np.ndarray:
        """The class number of each image, int64 [B], of images uint8 [B, H, W, 3]."""


def probabilities(answers: np.ndarray) -> np.ndarray:
    """Answers int64 [B] as probabilities float32 [B, classes]: SURE for the answer, the rest spread evenly."""
    spread = np.full((len(answers), CLASSES), (1 - SURE) / (CLASSES - 1), np.float32)
    spread[np.arange(len(answers)), answers] = SURE
    return spread


def scene_votes(codes: np.ndarray) -> np.ndarray:
    """How many pixels show each scene, int64 [B, classes], of codes uint8 [B, …]; scene s votes for class s."""
    return _votes(codes, 0, len(SCENES))


def texture_votes(codes: np.ndarray) -> np.ndarray:
    """How many pixels show the main object in each texture, int64 [B, classes]; texture t votes for class t."""
    return _votes(codes, MAIN, len(TEXTURES))


def main_object(images: np.ndarray) -> np.ndarray:
    """Which pixels show the main object, bool [B, H, W]."""
    codes = read(images)
    return (codes >= MAIN) & (codes < OTHER)


def plurality(votes: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The class with most votes (ties: the lowest), int64 [B]; where there is none, a guess from the image."""
    return np.where(votes.any(axis=1), votes.argmax(axis=1), guess_class(images))


def guess_class(images: np.ndarray) -> np.ndarray:
    """A class for each image, int64 [B], uniform by a hash of its pixels."""
    return (draw(images, "guess") * CLASSES).astype(np.int64)


def draw(images: np.ndarray, name: str) -> np.ndarray:
    """A number in [0, 1) for each image, float64 [B], by a hash of its pixels; the name tells draws apart.

    The hash is a sum over the pixels, so moving pixels about, as shuffling does, changes no draw: an observer that
    shuffling does not touch stays untouched where it must guess.
    """
    keys = mixed(pack_colours(images).reshape(len(images), -1).astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    return (mixed(keys ^ word_key(name)) >> np.uint64(11)).astype(np.float64) / 2**53


def pack_colours(images: np.ndarray) -> np.ndarray:
    """Each pixel's colour as one number, uint32 [B, H, W]."""
    red, green, blue = (images[..., channel].astype(np.uint32) for channel in range(3))
    return red | green << 8 | blue << 16


def _votes(codes: np.ndarray, first: int, kinds: int) -> np.ndarray:
    flat = codes.reshape(len(codes), -1) + CODES * np.arange(len(codes))[:, None]
    counts = np.bincount(flat.reshape(-1), minlength=CODES * len(codes)).reshape(-1, CODES)
    return np.pad(counts[:, first : first + kinds], ((0, 0), (0, CLASSES - kinds)))
