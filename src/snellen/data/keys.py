"""Keys of samples: numbers that depend on an id alone, the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np


def sample_keys(ids: Sequence[str]) -> np.ndarray:
    """uint64 [ids]: a key per sample id, from which its random draws start."""
    digests = b"".join(hashlib.blake2b(i.encode(), digest_size=8).digest() for i in ids)
    return np.frombuffer(digests, dtype="<u8")


def uniform(ids: Sequence[str], name: str) -> np.ndarray:
    """float64 [ids]: a number in [0, 1) for each id, from it and a name alone."""
    return (sample_keys([f"{name}/{sample}" for sample in ids]) >> np.uint64(11)) / float(1 << 53)
