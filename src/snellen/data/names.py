"""Names of files as text that any table can hold: bytes that are not UTF-8 are written as escapes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from snellen.errors import UserError

_ALONE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    r"""The text as UTF-8 can write it: a byte 0xff of a file's name becomes `\xff`; all other names stay as they are."""
    if text.isascii():
        return text
    return _ALONE.sub(lambda match: _escape(ord(match[0])), text)


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
