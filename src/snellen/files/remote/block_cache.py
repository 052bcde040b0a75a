"""Parts of remote files on this machine's disk, each in a file named by the digest of what it is: address, size, mark, place.

Each file ends with the sha256 of its content, so what was damaged here is fetched again. They appear whole or not at all, and
several processes may read, write and remove them at once. Those that were not used for longest go first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import threading
import time
from pathlib import Path

from snellen.errors import UserError
from snellen.files.plain import GIB, KIB, MIB, expand_home, format_size, snellen_home

FOLDER, SIZE = "SNELLEN_REMOTE_CACHE", "SNELLEN_REMOTE_CACHE_SIZE"  # environment variables
USUAL_SIZE = 20 * GIB
DIGEST = 32  # bytes of a sha256
_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": 1024 * GIB}
_SHARE = 0.9  # of the bound, to which an overfull cache is emptied
_OFTEN = 20  # a process looks at the whole cache after it has written one so many-th of the bound


class BlockCache:
    """A folder of blocks that holds at most `most` bytes, give or take what other processes write meanwhile."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self._written = most  # so that the first look comes at once
        self._sound: set[str] = set()
        self._lock = threading.Lock()

    def read(self, name: str, length: int, start: int, stop: int) -> bytes | None:
        """Some bytes of a block of `length`; None where it is not there whole."""
        file = self._file(name)
        try:
            with open(file, "rb") as opened:
                if os.fstat(opened.fileno()).st_size != length + DIGEST:
                    return None
                if name in self._sound:
                    return os.pread(opened.fileno(), stop - start, start)
                content = opened.read()
            if hashlib.sha256(content[:length]).digest() != content[length:]:
                return None
            os.utime(file)
        except OSError:
            return None
        self._sound.add(name)
        return content[start:stop]

    def write(self, name: str, content: bytes) -> None:
        """Keep a block; a full or read-only disk keeps none, and the reading goes on."""
        if len(content) + DIGEST > self.most:
            return
        file = self._file(name)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            number, half = tempfile.mkstemp(prefix=".part-", dir=file.parent)
            try:
                with os.fdopen(number, "wb") as opened:
                    opened.write(content)
                    opened.write(hashlib.sha256(content).digest())
                os.replace(half, file)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(half)
                raise
            self._sound.add(name)
        with self._lock:
            self._written += len(content)
            if self._written * _OFTEN >= self.most:
                self._written = 0
                self._shrink()

    def _file(self, name: str) -> Path:
        return self.folder / name[:2] / name

    def _shrink(self) -> None:
        """Remove what was not used for longest, and halves that a killed process left an hour ago."""
        entries: list[tuple[float, int, str]] = []
        for folder in _entries(self.folder):
            for entry in _entries(folder.path):
                with contextlib.suppress(OSError):
                    facts = entry.stat(follow_symlinks=False)
                    old = entry.name.startswith(".part-") and facts.st_mtime < time.time() - 3600
                    entries.append((0.0 if old else facts.st_mtime, facts.st_size, entry.path))
        total = sum(size for _, size, _ in entries)
        wanted = self.most * _SHARE if total > self.most else total
        for used, size, path in sorted(entries):
            if total <= wanted and used:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def block_cache() -> BlockCache:
    """That of this process, by the environment."""
    folder = os.environ.get(FOLDER)
    place = expand_home(folder) if folder else snellen_home() / "remote"
    most = _size(os.environ.get(SIZE, ""))
    key = (str(place), most)
    if key not in _caches:
        _caches[key] = BlockCache(place, most)
    return _caches[key]


_caches: dict[tuple[str, int], BlockCache] = {}


def _size(text: str) -> int:
    if not text.strip():
        return USUAL_SIZE
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise UserError(
            f"expected {SIZE} as a number of bytes such as {format_size(USUAL_SIZE)} or 500M, got '{text[:60]}'"
        )
    return int(float(match[1]) * _UNITS[match[2].upper()])
