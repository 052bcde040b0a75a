"""Tar files: where their files lie, so that each is read by itself, in any order and by several threads."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from snellen.errors import UserError
from snellen.files.member_names import check_name
from snellen.files.net import reading
from snellen.files.plain import GIB, MIB, NotRead, format_size, length_of, open_file, unreadable

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class Member:
    """A file in a tar file: its name there, where its content begins and how many bytes it has."""

    name: str
    start: int
    size: int


def list_tar(path: Path, ended: bool = False) -> list[Member]:
    """The regular files in a tar file that is not compressed, in its order; links and sparse files are refused, folders and
    devices left out. With `ended` it must have the empty block that ends one, which a file lacks that is cut off."""
    with open_file(path, "tar file") as file:
        headers = _Headers(file)
        _refuse_packed(headers, path)
        return list(_members(headers, path, ended))


def first_names(path: Path, count: int) -> list[str]:
    """The names of the first files in a tar file."""
    with open_file(path, "tar file") as file:
        headers = _Headers(file)
        _refuse_packed(headers, path)
        return [member.name for member in islice(_members(headers, path, ended=False), count)]


def read_members(path: Path, members: Sequence[Member], most: int = GIB) -> Iterator[bytes | NotRead]:
    """The content of each of some members, or why it was not read."""
    with open_file(path, "tar file") as file:
        for member in members:
            if member.size > most:
                reason = f"larger than {format_size(most)}, the most that is read"
                yield NotRead(f"'{member.name}' in '{path}' is {reason}", f"it is {reason}")
                continue
            try:
                file.seek(member.start)
                yield file.read(member.size)
            except OSError as error:
                yield unreadable(path, "tar file", error)


class _Headers:
    """A file of which only so much is read at once as a header may have: Python sets aside all that it is asked for."""

    mode = "rb"

    def __init__(self, file: io.BufferedReader) -> None:
        self.length = length_of(file)
        self.seek, self.tell, self._read = file.seek, file.tell, file.read

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MIB:
            raise ValueError("a header of impossible size")
        return self._read(size)


def _members(file: _Headers, path: Path, ended: bool) -> Iterator[Member]:
    reached = -1
    with reading(path, "a tar file"):
        tar = tarfile.TarFile(fileobj=file)  # type: ignore[arg-type]
    while True:
        with reading(path, "a tar file"):
            info = tar.next()
        if info is None:
            break
        tar.members = []  # type: ignore[attr-defined]  # all are kept there, and we keep what we need
        if info.offset <= reached or info.size < 0:  # a negative size would lead back to the same header for ever
            raise UserError(f"tar file '{path}' is damaged: '{info.name[:200]}' has no possible size")
        reached = info.offset
        if info.islnk() or info.issym() or info.issparse():
            sort = "sparse file" if info.issparse() else "link"
            raise UserError(
                f"tar file '{path}': '{info.name[:200]}' is a {sort}; pack whole files (tar -h --hard-dereference)"
            )
        if info.isreg():
            check_name(info.name, f"tar file '{path}'")
            if info.offset_data + info.size > file.length:
                raise UserError(f"tar file '{path}' is cut off in '{info.name[:200]}'; copy it again")
            yield Member(info.name, info.offset_data, info.size)
    # tarfile takes a header that it cannot read for the end of the file
    file.seek(tar.offset)
    last = file.read(tarfile.BLOCKSIZE)
    if last.strip(b"\0"):
        raise UserError(f"tar file '{path}' is damaged at byte {tar.offset:,}; copy it again")
    if ended and len(last) < tarfile.BLOCKSIZE:
        raise UserError(f"tar file '{path}' is cut off at byte {file.length:,}, where it has no end; copy it again")


def _refuse_packed(file: _Headers, path: Path) -> None:
    start = file.read(6)
    file.seek(0)
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            raise UserError(
                f"tar file '{path}' is compressed ({name}), so that no image can be read by itself; unpack it, or decompress it"
            )
