"""Remote files opened as files: read in blocks, as far as a reader looks at them, each block once."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from snellen.files.plain import KIB, MIB, NotRead
from snellen.files.remote.block_cache import block_cache
from snellen.files.remote.facts import facts_at
from snellen.files.remote.object_store import object_part
from snellen.files.remote.opened import note_digest, note_opened
from snellen.files.remote.patience import patiently
from snellen.files.remote.remote_path import WEB, RemoteFacts, RemotePath
from snellen.files.remote.web_store import web_part

BLOCK = 4 * MIB
IMAGES = frozenset({"image", "mask", "label map"})  # kinds whose checksums a run keeps anyway


def open_remote(path: RemotePath, kind: str) -> io.BufferedReader:
    """A file at an address, open for reading; like one of this machine, but without a descriptor."""
    facts = facts_at(path)
    if facts is None:
        folder = path.look.facts.get(f"{path}/") is not None
        reason = "it is a folder" if folder else "there is no such file"
        raise NotRead(f"'{path}' is a folder; expected a {kind}" if folder else f"no {kind} '{path}'", reason)
    file = RemoteFile(path, facts)
    if kind not in IMAGES:
        note_opened(path, facts, file.digest())
    return io.BufferedReader(file, 128 * KIB)


class RemoteFile(io.RawIOBase):
    """The bytes of a remote file, fetched a block at a time."""

    def __init__(self, path: RemotePath, facts: RemoteFacts) -> None:
        self.path, self.facts = path, facts
        self._place = 0
        self._block: tuple[int, bytes] = (-1, b"")  # the last one that came from the server

    @property
    def size(self) -> int:
        return self.facts.size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.size}[whence] + offset
        if place < 0:
            raise OSError(errno.EINVAL, "a place before the beginning of the file")
        self._place = place
        return place

    def readinto(self, buffer: Any) -> int:
        number, start = divmod(self._place, BLOCK)
        stop = min(start + len(buffer), BLOCK, self.size - number * BLOCK)
        if stop <= start:
            return 0
        content = self._some(number, start, stop)
        buffer[: len(content)] = content
        self._place += len(content)
        return len(content)

    def digest(self) -> str:
        """The sha256 of the file where one block holds it; '' for larger ones, of which only parts may have been read."""
        if not 0 < self.size <= BLOCK:
            return ""
        self._block = (0, self._some(0, 0, self.size))
        return hashlib.sha256(self._block[1]).hexdigest()

    def _some(self, number: int, start: int, stop: int) -> bytes:
        """Some bytes of a block: the last one's, the cache's, or the server's."""
        if self._block[0] == number:
            return self._block[1][start:stop]
        begin, end = number * BLOCK, min((number + 1) * BLOCK, self.size)
        name = self._name(begin, end)
        cached = block_cache().read(name, end - begin, start, stop) if self.facts.mark else None
        if cached is not None:
            return cached
        part = web_part if self.path.scheme in WEB else object_part
        content = patiently(self.path, lambda: part(self.path, self.facts, begin, end))
        if self.facts.mark:  # without one, other content could not be told from this
            block_cache().write(name, content)
        self._block = (number, content)
        return content[start:stop]

    def _name(self, begin: int, end: int) -> str:
        what = json.dumps([str(self.path), self.facts.size, self.facts.mark, begin, end])
        return hashlib.sha256(what.encode()).hexdigest()


def whole_copy(path: RemotePath, kind: str) -> io.BufferedReader:
    """A file at an address as one of this machine, for readers that map it; it is gone when it is closed and no longer mapped."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    with copy:
        _copy(path, kind, copy)
        copy.seek(0)
        return io.BufferedReader(io.FileIO(os.dup(copy.fileno()), "rb"))


@contextmanager
def named_copy(path: RemotePath, kind: str) -> Iterator[Path]:
    """The same under a name, for libraries that open files themselves; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        copy = Path(folder) / (path.name or "file")
        with copy.open("wb") as target:
            _copy(path, kind, target)
        yield copy


def _copy(path: RemotePath, kind: str, target: IO[bytes]) -> None:
    """Write the whole file, by way of the cache; that it was read whole gives its digest, however large it is."""
    digest = hashlib.sha256()
    with open_remote(path, kind) as file:
        while part := file.read(BLOCK):
            digest.update(part)
            target.write(part)
    note_digest(path, digest.hexdigest())
