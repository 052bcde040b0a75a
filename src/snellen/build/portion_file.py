"""What became of a few images, kept in a file until a set is complete, so that a stopped build continues."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from snellen.atomic import write_atomic
from snellen.build.destination import encode_json
from snellen.errors import UserError
from snellen.files import decode_json, read_bytes
from snellen.hashing import checksum

Row = TypeVar("Row")
POOL = ".pool"  # the folder of these files, removed when the set is complete


def portion_file(pool: Path, number: int) -> Path:
    """Where the rows of a portion are kept."""
    return pool / f"{number:06d}.json"


def keep_rows(file: Path, rows: Sequence[Any]) -> None:
    """Write rows, dataclasses, with a checksum in the first line."""
    content = encode_json([asdict(one) for one in rows])
    write_atomic(file, checksum(content).encode() + b"\n" + content)


def read_rows(file: Path, kind: type[Row]) -> list[Row] | None:
    """The rows of an earlier run; None where there are none, or their file is damaged: then they are made again."""
    if not os.path.lexists(file):
        return None
    try:
        first, _, content = read_bytes(file, "verdicts").partition(b"\n")
        if checksum(content).encode() != first:
            return None
        rows: list[Row] = decode_json(content, list[kind], file)  # type: ignore[valid-type]
        return rows
    except UserError:
        return None
