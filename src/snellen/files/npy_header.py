"""The header of a NumPy array in a file: what it promises, checked against the bytes that are really there."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from snellen.errors import UserError

MAGIC = b"\x93NUMPY"
LONGEST = 10_000  # bytes of a header; NumPy writes 128 for plain types


@dataclass(frozen=True)
class Header:
    """Shape and type of an array, whether its first index runs fastest (`fortran`), and the bytes of the header itself."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    length: int

    @property
    def bytes(self) -> int:
        """The size of the array's content; whole numbers of Python, so that no product overflows."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO, where: str) -> Header | None:
    """The header of the array that begins here; None where no array begins."""
    start = stream.read(8)
    if start[:6] != MAGIC:
        return None
    if len(start) < 8 or start[6] not in (1, 2, 3):
        raise UserError(f"{where} cannot be read as an array: its format is not one that NumPy writes")
    size = stream.read(2 if start[6] == 1 else 4)
    length = int.from_bytes(size, "little")
    if length > LONGEST:
        raise UserError(f"{where} cannot be read as an array: its header has {length:,} bytes, more than {LONGEST:,}")
    text = stream.read(length)
    reader = np.lib.format.read_array_header_1_0 if start[6] == 1 else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = reader(io.BytesIO(size + text))
    except Exception as error:  # the header is a Python literal, and its parser raises many kinds
        reason = "it is cut short" if len(text) < length else str(error).splitlines()[0][:100] if str(error) else "?"
        raise UserError(f"{where} cannot be read as an array: the header is damaged: {reason}") from None
    if any(isinstance(side, bool) or side < 0 for side in shape) or len(shape) > 32:
        raise UserError(f"{where} cannot be read as an array: its shape is {str(shape)[:60]}")
    return Header(tuple(map(int, shape)), dtype, bool(fortran), len(start) + len(size) + length)


def check_content(header: Header, size: int, where: str) -> None:
    """Refuse an array whose header does not fit the `size` bytes that follow it, or that plain numbers and text do not fill."""
    if header.dtype.hasobject:
        raise UserError(f"{where} holds Python objects, which are not read; save it as numbers or text")
    if header.dtype.kind == "V":
        raise UserError(f"{where} holds records ({str(header.dtype)[:60]}); save each field as an array of its own")
    if header.bytes != size or (header.dtype.itemsize == 0 and 0 not in header.shape):
        raise UserError(
            f"{where} is damaged: its header says {header.dtype} {list(header.shape)[:8]}, {header.bytes:,} bytes, "
            f"but {size:,} follow"
        )
