"""Arrays of numbers from MATLAB files (version 5, which `save` writes as -v6 and -v7), without anything else they may hold.

Arrays that are stored as they are (-v6) are mapped, so memory does not grow with their size; packed ones (-v7) have a bound.
Text, cells, structures, objects and functions are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np

from snellen.errors import UserError
from snellen.files.mat_stream import Packed, Stored
from snellen.files.net import reading
from snellen.files.plain import length_of, open_whole

HEADER = 128  # bytes
MOST_VARIABLES = 1000
MOST_DIMENSIONS = 32
LONGEST_NAME = 1000  # bytes; MATLAB's own are of up to 63
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_INT8, _INT32, _UINT32 = 1, 5, 6
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SORTS = {1: "a cell array", 2: "a structure", 3: "an object", 4: "text", 5: "a sparse matrix"}
_NUMBERS = range(6, 16)  # sorts of arrays: double to uint64
_COMPLEX = 0x800


def read_mat(path: Path | str, names: Collection[str]) -> dict[str, np.ndarray]:
    """The arrays of these names that a file has, in MATLAB's order of the indices (the first runs fastest)."""
    arrays: dict[str, np.ndarray] = {}
    with open_whole(path) as file, reading(path, "a MATLAB file"):
        order = _byte_order(file.read(HEADER), path)
        for content in _variables(file, order, path):
            variable = _describe(content, order, path)
            if variable is not None and variable.name in names:
                arrays[variable.name] = _array(content, variable, order, path)
    return arrays


@dataclass(frozen=True)
class _Variable:
    """What stands before the numbers of a variable."""

    name: str
    sort: str  # "" for real numbers
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Tag:
    """Type and bytes of a part of a variable and, where they are up to four, its content."""

    kind: int
    length: int
    inside: bytes | None


def _byte_order(header: bytes, path: Path | str) -> str:
    """`<` or `>`, as the header marks it; other versions of the format are refused."""
    if header.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise UserError(
            f"{path} is a MATLAB 7.3 file (HDF5), which is not read; save it again with save(…, '-v7'), "
            "or from Python with scipy.io.savemat"
        )
    mark = header[126:128]
    if len(header) < HEADER or mark not in (b"IM", b"MI"):
        raise UserError(f"{path} cannot be read as a MATLAB file: its header is not that of version 5")
    return "<" if mark == b"IM" else ">"


def _variables(file: BufferedReader, order: str, path: Path | str) -> Iterator[Stored | Packed]:
    """The content of every variable, one after the other."""
    size, place = length_of(file), HEADER
    for _ in range(MOST_VARIABLES):
        if place == size:
            return
        file.seek(place)
        tag = file.read(8)
        kind, length = np.frombuffer(tag, f"{order}u4").tolist() if len(tag) == 8 else (_MATRIX, size)
        if kind not in (_MATRIX, _COMPRESSED):
            raise UserError(f"{path} cannot be read as a MATLAB file: no variable begins at byte {place}")
        if place + 8 + length > size:
            raise UserError(f"{path} is cut short: the variable at byte {place} reaches beyond its end")
        yield Stored(file, length) if kind == _MATRIX else Packed(file, length, path)
        place += 8 + length
    raise UserError(f"{path} holds more than {MOST_VARIABLES:,} variables")


def _describe(content: Stored | Packed, order: str, path: Path | str) -> _Variable | None:
    """Name, sort and shape of a variable; None for functions and newer objects, which are described otherwise."""
    if isinstance(content, Packed) and (inner := _tag(content, order, path)).kind != _MATRIX:
        raise _damaged(path, f"something of type {inner.kind} is packed where a variable was expected")
    flags = int(_numbers(content, _UINT32, order, path, 8)[:1].sum())
    sort = flags & 0xFF
    if sort not in (*_SORTS, *_NUMBERS):
        return None
    shape = tuple(_numbers(content, _INT32, order, path, 4 * MOST_DIMENSIONS).tolist())
    if len(shape) < 2 or min(shape) < 0:
        raise _damaged(path, f"its dimensions are {list(shape[:8])}")
    name = _numbers(content, _INT8, order, path, LONGEST_NAME).tobytes().decode("ascii", "replace")
    return _Variable(name, "complex" if flags & _COMPLEX else _SORTS.get(sort, ""), shape)


def _array(content: Stored | Packed, variable: _Variable, order: str, path: Path | str) -> np.ndarray:
    """The numbers of a variable, of the type they are stored in: MATLAB keeps whole ones of any type in few bytes."""
    where = f"{path}: '{variable.name}'"
    if variable.sort:
        raise UserError(f"{where} is {variable.sort}; expected an array of real numbers")
    tag = _tag(content, order, path)
    if tag.kind not in _TYPES:
        raise _damaged(path, f"its numbers are of type {tag.kind}")
    dtype = np.dtype(f"{order}{_TYPES[tag.kind]}")
    wanted = math.prod(variable.shape) * dtype.itemsize
    if tag.length != wanted or (tag.inside is None and wanted > content.room):
        raise UserError(
            f"{where} is damaged: {dtype.name} {list(variable.shape[:8])} has {wanted:,} bytes, of which {tag.length:,} "
            f"are stated and at most {content.room:,} there"
        )
    if tag.inside is not None:
        return np.frombuffer(tag.inside, dtype).reshape(variable.shape, order="F")
    return content.array(dtype, variable.shape)


def _numbers(content: Stored | Packed, kind: int, order: str, path: Path | str, most: int) -> np.ndarray:
    """A part of the description, which must be of this type and of not more than `most` bytes."""
    tag, dtype = _tag(content, order, path), np.dtype(f"{order}{_TYPES[kind]}")
    if tag.kind != kind or tag.length > most or tag.length % dtype.itemsize:
        raise _damaged(path, f"expected up to {most} bytes of type {kind}, got {tag.length:,} of type {tag.kind}")
    if tag.inside is not None:
        return np.frombuffer(tag.inside, dtype)
    return np.frombuffer(_exactly(content, tag.length + -tag.length % 8, path)[: tag.length], dtype)


def _tag(content: Stored | Packed, order: str, path: Path | str) -> _Tag:
    tag = _exactly(content, 8, path)
    first, second = np.frombuffer(tag, f"{order}u4").tolist()
    length = first >> 16
    if not length:
        return _Tag(first, second, None)
    if length > 4:
        raise _damaged(path, f"{length} bytes stand where 4 have room")
    return _Tag(first & 0xFFFF, length, tag[4 : 4 + length])


def _exactly(content: Stored | Packed, count: int, path: Path | str) -> bytes:
    read = content.read(count)
    if len(read) < count:
        raise _damaged(path, "it ends too early")
    return read


def _damaged(path: Path | str, why: str) -> UserError:
    return UserError(f"{path} is damaged: the description of a variable: {why}")
