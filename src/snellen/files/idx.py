"""Arrays in idx files, as MNIST has them: four bytes with type and dimensions, the sides, the values; packed by gzip or not."""

from __future__ import annotations

import math
import zlib
from io import BufferedReader
from pathlib import Path

import numpy as np

from snellen.errors import UserError
from snellen.files.plain import GIB, MIB, format_size, open_file

BYTES = 8  # the type of values that is read: uint8
MOST = 8 * GIB
MOST_DIMENSIONS = 4


def read_idx(path: Path, kind: str = "idx file") -> np.ndarray:
    """The uint8 array of an idx file, whose header must fit what follows it."""
    with open_file(path, kind) as file:
        content = _at_most(file)
    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content, path)
    count = content[3] if len(content) > 3 else 0
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != BYTES or not 1 <= count <= MOST_DIMENSIONS:
        raise UserError(
            f"'{path}' is not an idx file of bytes; expected those of MNIST, such as t10k-images-idx3-ubyte.gz"
        )
    shape = tuple(int.from_bytes(content[4 + 4 * n : 8 + 4 * n], "big") for n in range(count))
    values = np.frombuffer(content, np.uint8)[4 + 4 * count :]
    if math.prod(shape) != len(values):
        raise UserError(
            f"'{path}' is damaged: its header says {list(shape)}, but {len(values):,} bytes follow; get it again"
        )
    return values.reshape(shape)


def _at_most(file: BufferedReader) -> bytes:
    """All of a file up to the bound, in parts: Python sets aside all that it is asked for."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < MOST and (part := file.read(64 * MIB)):
        parts.append(part)
    return b"".join(parts)


def _unpacked(content: bytes, path: Path) -> bytes:
    """The content of a gzip file, up to a bound: gzip packs a thousandfold, and no more is read than the header says."""
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        start = stream.decompress(content, 4 + 4 * MOST_DIMENSIONS)
        count = start[3] if len(start) > 3 else 0
        sides = [int.from_bytes(start[4 + 4 * n : 8 + 4 * n], "big") for n in range(min(count, MOST_DIMENSIONS))]
        size = 4 + 4 * count + math.prod(sides)
        if size > MOST:
            raise UserError(f"'{path}' holds {format_size(size)}, more than {format_size(MOST)}")
        parts, length = [start], len(start)
        while length <= size and (part := stream.decompress(stream.unconsumed_tail, MIB)):
            parts.append(part)
            length += len(part)
    except zlib.error as error:
        raise UserError(f"'{path}' cannot be unpacked by gzip: {error}; get it again") from None
    return b"".join(parts)
