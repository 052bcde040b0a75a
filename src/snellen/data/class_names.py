"""Names of classes in a text file, one per line."""

from __future__ import annotations

from pathlib import Path

from snellen.data.names import different
from snellen.errors import UserError
from snellen.files import MIB, read_text

MOST = 1_000_000


def read_names(file: Path | str, kind: str = "list of classes") -> tuple[str, ...]:
    """The names, in the file's order; only a line feed ends one, spaces around it and empty lines at the end do not count."""
    lines = [line.strip() for line in read_text(file, kind, 16 * MIB).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or len(lines) > MOST:
        raise UserError(f"{file}: expected 1 to {MOST:,} names of classes, one per line, got {len(lines):,}")
    if "" in lines:
        raise UserError(f"{file} line {lines.index('') + 1} is empty; expected the name of a class")
    return different(lines, str(file), "name")
