"""The content of a variable of a MATLAB file, read in order: as it is stored, or unpacked on the way."""

from __future__ import annotations

import math
import zlib
from io import BufferedReader
from pathlib import Path

import numpy as np

from snellen.errors import UserError
from snellen.files.npz import MOST_PACKING, MOST_UNPACKED
from snellen.files.plain import KIB

_CHUNK = 256 * KIB
_PADDING = 8  # bytes, the most that fills up a variable


class Stored:
    """A variable that is stored as it is; `room` is how many of its bytes are left."""

    def __init__(self, file: BufferedReader, length: int) -> None:
        self._file, self.room = file, length

    def read(self, count: int) -> bytes:
        """The next bytes, fewer only at the end."""
        content = self._file.read(min(count, self.room))
        self.room -= len(content)
        return content

    def array(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The array that comes next, mapped: its pages are read when they are looked at."""
        if not math.prod(shape):
            return np.empty(shape, dtype)
        return np.memmap(self._file, dtype, "r", self._file.tell(), shape, "F")


class Packed:
    """A variable that zlib packed; `room` is the most that can come of it."""

    def __init__(self, file: BufferedReader, length: int, path: Path | str) -> None:
        self._file, self._left, self._path = file, length, path
        self._unpacker = zlib.decompressobj()
        self.room = min(length * MOST_PACKING, MOST_UNPACKED)

    def read(self, count: int) -> bytes:
        """The next bytes, fewer only at the end; there zlib compares its checksum."""
        content = b""
        while len(content) < count and not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail or self._file.read(min(self._left, _CHUNK))
            if not packed:
                break
            self._left -= 0 if self._unpacker.unconsumed_tail else len(packed)
            try:
                content += self._unpacker.decompress(packed, count - len(content))
            except zlib.error as error:
                raise UserError(f"{self._path} is damaged: an array cannot be unpacked: {error}") from None
        return content

    def array(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The array that comes next, after which nothing but padding may follow."""
        content = np.empty(math.prod(shape) * dtype.itemsize, np.uint8)
        place = 0
        while place < len(content) and (chunk := self.read(min(_CHUNK, len(content) - place))):
            content[place : place + len(chunk)] = np.frombuffer(chunk, np.uint8)
            place += len(chunk)
        if place < len(content) or len(self.read(2 * _PADDING)) > _PADDING or not self._unpacker.eof:
            raise UserError(f"{self._path} is damaged: an array does not end where it should")
        return content.view(dtype).reshape(shape, order="F")
