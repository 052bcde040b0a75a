"""Arrays from npz and npy files: refused by what their headers promise before anything is allocated.

Large arrays that are stored as they are (`np.savez`) are mapped, so memory does not grow with their size; compressed ones
have a bound.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.npy_header import Header, check_content, read_header
from snellen.files.plain import GIB, KIB, MIB, format_size, length_of, open_file, open_whole

MOST_MEMBERS = 1000
LONGEST_LISTING = 16 * MIB  # bytes of the zip file's own table of contents
MOST_UNPACKED = 4 * GIB  # of all compressed arrays of a file together
MOST_PACKING = 1040  # no deflated byte stands for more: a size beyond that is a lie
SMALLEST_MAP = MIB  # less is read, and its checksum compared
_CHUNK = 256 * KIB


class Npz:
    """An open npz file: the `headers` of its arrays by name, each read when it is asked for."""

    def __init__(self, path: Path | str, file: BufferedReader) -> None:
        self.path = path
        self._file = file
        self._left = MOST_UNPACKED
        self._size = length_of(file)
        with reading(path, "npz"):
            check_listing(file, self._size, path, "npz", LONGEST_LISTING)
            self._archive = zipfile.ZipFile(file)
            self._members = self._listing()
            self.headers = {name: self._header(name) for name in self._members}

    def read(self, name: str) -> np.ndarray:
        """One array, mapped where it is large and stored as it is."""
        info, header = self._members[name], self.headers[name]
        where = self._where(name)
        check_content(header, info.file_size - header.length, where)
        if info.compress_type == zipfile.ZIP_STORED:
            start = self._start(info, where)
            if header.bytes >= SMALLEST_MAP:
                with reading(self.path, "npz"):
                    offset, order = start + header.length, _order(header)
                    return np.memmap(self._file, header.dtype, "r", offset, header.shape, order)
        else:
            self._left -= header.bytes
            if self._left < 0:
                raise UserError(
                    f"{where} is packed, and unpacked the arrays of the file have more than {format_size(MOST_UNPACKED)}; "
                    "save it with np.savez, from which arrays are read without being loaded"
                )
        with reading(self.path, "npz"), self._archive.open(info) as stream:
            stream.read(header.length)
            return fill(header, cast("BinaryIO", stream), where)

    def _listing(self) -> dict[str, zipfile.ZipInfo]:
        infos = [info for info in self._archive.infolist() if info.filename.endswith(".npy")]
        if len(infos) > MOST_MEMBERS:
            raise UserError(f"{self.path} holds {len(infos):,} arrays, more than {MOST_MEMBERS:,}")
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = info.filename.removesuffix(".npy")
            if name in members:
                raise UserError(f"{self.path} holds two arrays named '{name}'; save it again")
            members[name] = info
        return members

    def _header(self, name: str) -> Header:
        """What an array promises; sizes that cannot be true are refused before a byte is unpacked."""
        info, where = self._members[name], self._where(name)
        if info.flag_bits & 1:
            raise UserError(f"{where} is encrypted; save it again without a password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UserError(f"{where} is packed by a method that np.savez does not use; save it again")
        largest = info.compress_size * (1 if info.compress_type == zipfile.ZIP_STORED else MOST_PACKING)
        if info.compress_size > self._size or info.file_size > largest:
            raise UserError(
                f"{where} is damaged: it is said to take {info.compress_size:,} bytes of a file of {self._size:,}, and to unpack "
                f"to {info.file_size:,}; save it again"
            )
        with self._archive.open(info) as stream:
            header = read_header(cast("BinaryIO", stream), where)
        if header is None:
            raise UserError(f"{where} is not an array; save it again with np.savez")
        return header

    def _start(self, info: zipfile.ZipInfo, where: str) -> int:
        """Where the content of a stored array begins; it lies wholly in the file."""
        self._file.seek(info.header_offset)
        local = self._file.read(30)
        names = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
        start = info.header_offset + len(local) + names
        if info.file_size != info.compress_size or start + info.file_size > self._size:
            raise UserError(f"{where} is damaged: it reaches beyond the end of the file")
        return start

    def _where(self, name: str) -> str:
        return f"{self.path}: array '{name[:60]}'"


@contextmanager
def open_npz(path: Path | str, kind: str = "file") -> Iterator[Npz]:
    """An npz file, open while its arrays are read; mapped ones stay after it is closed."""
    with open_whole(path, kind) as file:
        yield Npz(path, file)


def read_npy(path: Path | str, kind: str = "array", most: int = GIB) -> np.ndarray:
    """The array of an npy file of at most `most` bytes."""
    with open_file(path, kind) as file:
        size = length_of(file)
        with reading(path, "npy"):
            header = read_header(file, str(path))
        if header is None:
            raise UserError(f"{path} cannot be read as npy: it is not an array that np.save wrote")
        if header.bytes > most:
            raise UserError(f"{path} holds {format_size(header.bytes)}, more than {format_size(most)}")
        check_content(header, size - header.length, str(path))
        with reading(path, "npy"):
            return fill(header, file, str(path))


def check_listing(file: BufferedReader, size: int, path: Path | str, kind: str, longest: int) -> None:
    """Refuse a zip file whose table of contents, which is read whole, is too long."""
    file.seek(max(0, size - 65_600))  # its end is marked in the last 64 KiB
    ending = file.read()
    mark = ending.rfind(b"PK\x05\x06")
    length = int.from_bytes(ending[mark + 12 : mark + 16], "little") if mark >= 0 else 0
    if length == 0xFFFFFFFF and ending[mark - 20 : mark - 16] == b"PK\x06\x07":  # the numbers stand in another record
        file.seek(min(int.from_bytes(ending[mark - 12 : mark - 4], "little"), size))
        length = int.from_bytes(file.read(56)[40:48], "little")
    if length > longest:
        raise UserError(f"{path} cannot be read as {kind}: its table of contents has {format_size(length)}")


def fill(header: Header, stream: BinaryIO, where: str) -> np.ndarray:
    """The array that follows a header in a stream."""
    array = np.empty(header.shape, header.dtype, _order(header))
    content = array.reshape(-1, order="A").view(np.uint8)
    place = 0
    while chunk := stream.read(_CHUNK):
        content[place : place + len(chunk)] = np.frombuffer(chunk, np.uint8)
        place += len(chunk)
    if place < len(content):
        raise UserError(f"{where} is cut short: {place:,} of {len(content):,} bytes")
    return array


def _order(header: Header) -> Literal["F", "C"]:
    return "F" if header.fortran else "C"
