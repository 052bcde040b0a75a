"""Fingerprints: short, stable names for content."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from snellen.files import open_file
from snellen.files.remote.opened import note_digest
from snellen.files.remote.remote_path import RemotePath


def key_of(facts: Any) -> str:
    """A 16-hex-digit key of any JSON-able value, independent of the order of its dictionary keys."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def checksum(data: bytes | memoryview) -> str:
    """A 32-hex-digit checksum of bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def pixel_checksums(images: np.ndarray) -> list[str]:
    """A 16-hex-digit checksum per image of a contiguous uint8 array [n, …].

    Multilinear hashing (words times random odd numbers, summed) by one matrix product: per-image calls of a
    cryptographic hash cost more than a small network's forward pass.
    """
    flat = images.reshape(len(images), -1)
    if short := -flat.shape[1] % 8:
        flat = np.pad(flat, ((0, 0), (0, short)))
    words = flat.view("<u8")
    return [f"{word:016x}" for word in (words @ _odd_numbers(words.shape[1])).tolist()]


@functools.lru_cache(maxsize=8)
def _odd_numbers(count: int) -> np.ndarray:
    return np.random.default_rng(64).integers(0, 2**63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def file_sha256(path: Path) -> str:
    """The sha256 of a file's content."""
    with open_file(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if isinstance(path, RemotePath):
        note_digest(path, digest)
    return digest
