"""Bytes flipped, cut, repeated, inserted, zeroed, swapped: what happens to any file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from . import nasty

STARTS = (
    b"PK\x03\x04",
    b"\x93NUMPY\x01\x00",
    b"PAR1",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"\xff\xd8\xff",
    b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    b"\x80\x04\x95",
    b"<?xml version='1.0'?>",
    b"\x1f\x8b\x08",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"hello\n",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"\x00" * 4096,
    b"\n" * 100_000,
    b'"' + b"a" * 1_000_000,
)


def span(content: bytes, draw: Random, most: int = 200) -> slice:
    """Some bytes of the content."""
    start = draw.randrange(len(content) + 1)
    return slice(start, min(len(content), start + draw.randint(1, most)))


def flip(content: bytes, draw: Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        if flipped:
            flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
    return bytes(flipped)


def set_integer(content: bytes, draw: Random) -> bytes:
    """A length or an offset that lies."""
    size = draw.choice([1, 2, 4, 8])
    value = draw.choice([0, 1, -1, 2 ** (8 * size - 1) - 1, draw.randrange(256)])
    start = draw.randrange(max(1, min(len(content), draw.choice([64, 4096, 1 << 30]))))
    return content[:start] + (value % 2 ** (8 * size)).to_bytes(size, "little") + content[start + size :]


def cut(content: bytes, draw: Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def cut_front(content: bytes, draw: Random) -> bytes:
    return content[draw.randrange(len(content) + 1) :]


def remove(content: bytes, draw: Random) -> bytes:
    part = span(content, draw)
    return content[: part.start] + content[part.stop :]


def repeat(content: bytes, draw: Random) -> bytes:
    part = span(content, draw)
    return content[: part.stop] + content[part] * draw.choice([1, 2, 50]) + content[part.stop :]


def insert(content: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(content) + 1)
    return content[:place] + nasty.some_bytes(draw) + content[place:]


def zero(content: bytes, draw: Random) -> bytes:
    part = span(content, draw, 2000)
    return content[: part.start] + bytes(part.stop - part.start) + content[part.stop :]


def swap(content: bytes, draw: Random) -> bytes:
    first, second = sorted((span(content, draw), span(content, draw)), key=lambda part: part.start)
    middle = max(first.stop, second.start)
    second = slice(middle, max(middle, second.stop))
    between = content[first.stop : second.start]
    return content[: first.start] + content[second] + between + content[first] + content[second.stop :]


def empty(content: bytes, draw: Random) -> bytes:
    return b""


def append(content: bytes, draw: Random) -> bytes:
    return content + draw.choice([nasty.some_bytes(draw, 2000), content, b"\x00" * 100_000])


def garbage(content: bytes, draw: Random) -> bytes:
    return draw.choice(STARTS) + nasty.some_bytes(draw, 300)


def another_start(content: bytes, draw: Random) -> bytes:
    start = draw.choice(STARTS[:12])
    return start + content[len(start) :]


EDITS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(flip, set_integer, cut, cut_front, remove, repeat, insert, zero, swap, empty, append, garbage, another_start),
)


def mutate(file: Path, draw: Random) -> str:
    edit = draw.choice(EDITS)
    file.write_bytes(edit(file.read_bytes(), draw))
    return f"bytes: {edit.__name__}"
