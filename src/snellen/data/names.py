"""Names of files and classes as text that any table can hold: bytes that are not UTF-8 are written as escapes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from snellen.errors import UserError
from snellen.files import MIB, read_text

_ALONE = re.compile("[\ud800-\udfff]")
MOST_NAMES = 1_000_000  # in one list


def storable(text: str) -> str:
    r"""The text as UTF-8 can write it: a byte 0xff of a file's name becomes `\xff`; all other names stay as they are."""
    if text.isascii():
        return text
    return _ALONE.sub(lambda match: _escape(ord(match[0])), text)


def is_visible(sign: str) -> bool:
    """Whether a character beyond ASCII can be seen in a name: a letter, a mark, a digit or a symbol, of any script."""
    return not sign.isascii() and unicodedata.category(sign)[0] not in "CZ"


def different(names: Sequence[str], where: str, kind: str = "id") -> tuple[str, ...]:
    """The names as `storable` writes them; two that come out the same are refused."""
    texts = tuple(map(storable, names))
    if len(set(texts)) < len(texts):
        twice, count = Counter(texts).most_common(1)[0]
        raise UserError(f"{where}: {count} have the {kind} '{twice[:200]}'; give each its own")
    return texts


def _escape(point: int) -> str:
    """Python reads the byte b of a name that is not UTF-8 as the code point 0xdc00 + b."""
    return f"\\x{point - 0xDC00:02x}" if 0xDC80 <= point <= 0xDCFF else f"\\u{point:04x}"


def read_names(file: Path | str, kind: str = "list of classes") -> tuple[str, ...]:
    """The names, in the file's order; only a line feed ends one, spaces around it and empty lines at the end do not count."""
    lines = [line.strip() for line in read_text(file, kind, 16 * MIB).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or len(lines) > MOST_NAMES:
        raise UserError(f"{file}: expected 1 to {MOST_NAMES:,} names of classes, one per line, got {len(lines):,}")
    if "" in lines:
        raise UserError(f"{file} line {lines.index('') + 1} is empty; expected the name of a class")
    return different(lines, str(file), "name")
