"""Fingerprints: short, stable names for content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def key_of(facts: Any) -> str:
    """A 16-hex-digit key of any JSON-able value, independent of the order of its dictionary keys."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def checksum(data: bytes | memoryview) -> str:
    """A 32-hex-digit checksum of bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def file_sha256(path: Path) -> str:
    """The sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
