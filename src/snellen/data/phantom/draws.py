"""Random draws of the phantom world: a counter-based generator, so an image is the same in any batch and order.

Each draw is splitmix64 over a key of (seed, split, index, draw name); integers only, the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(keys: np.ndarray) -> np.ndarray:
    """The splitmix64 finaliser of uint64 keys (Steele, Lea & Flood 2014): every bit in moves every bit out."""
    z = keys + _STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@lru_cache(maxsize=256)
def word_key(word: str) -> np.ndarray:
    """A uint64 key of a word, shape [1]."""
    return np.frombuffer(blake2b(word.encode(), digest_size=8).digest(), "<u8").astype(np.uint64)


@dataclass(frozen=True)
class PhantomDraws:
    """The draws of some samples: `keys` is uint64 [B], one per sample; a draw is named by a word."""

    keys: np.ndarray

    @classmethod
    def of(cls, seed: int, split: str, indices: np.ndarray) -> PhantomDraws:
        """The draws of the samples at `indices` of a split under a seed."""
        world = mixed(mixed(np.array([seed], np.uint64)) ^ word_key(split))
        return cls(mixed(world + np.asarray(indices).astype(np.uint64) * _STEP))

    def take(self, rows: np.ndarray | slice) -> PhantomDraws:
        """The draws of some of the samples."""
        return PhantomDraws(self.keys[rows])

    def within(self, word: str) -> PhantomDraws:
        """Draws that share nothing with these: those of one thing in each image, or of one attempt."""
        return PhantomDraws(mixed(mixed(self.keys) ^ word_key(word)))

    def bits(self, name: str) -> np.ndarray:
        """32 random bits a sample, int64 [B]."""
        return (mixed(self.keys ^ word_key(name)) >> np.uint64(32)).astype(np.int64)

    def whole(self, name: str, low: int | np.ndarray, high: int | np.ndarray) -> np.ndarray:
        """Whole numbers uniform over low … high, both included, int64 [B]; spans stay below 2^31."""
        return low + ((self.bits(name) * (high - low + 1)) >> 32)

    def chance(self, name: str, probability: float) -> np.ndarray:
        """True with the given probability, bool [B]; what is true stays true when the probability rises."""
        return self.bits(name) < int(probability * 2**32)
