"""Ways in which a file may be damaged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file: Path, place: float = 0.5) -> None:
    content = bytearray(file.read_bytes())
    content[int(len(content) * place)] ^= 4
    file.write_bytes(content)


def flip_late(file: Path) -> None:
    flip(file, 0.93)  # in the header of a Parquet file, which is its end


def replace_by(content: bytes) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(content) and None


def fold(file: Path) -> None:
    file.unlink()
    (file / "inside").mkdir(parents=True)


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "removed": Path.unlink,
    "emptied": lambda file: file.write_bytes(b"") and None,
    "cut": cut,
    "flipped": flip,
    "flipped late": flip_late,
    "garbage": replace_by(b"\xff\x00garbage \x1b[31m" * 40),
    "null": replace_by(b"null"),
    "list": replace_by(b"[1, 2]"),
    "braces": replace_by(b"{}"),
    "deep": replace_by(b"[" * 100_000),
    "folder": fold,
    "pipe": pipe,
}
