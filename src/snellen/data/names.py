"""Names of files and classes, which may have any bytes, as text that every table and page can hold."""

from __future__ import annotations

import re

_LONE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    r"""The text with each byte that is not UTF-8 (a lone surrogate in Python) written as `\xff`; other names stay as they are."""
    return _LONE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number - 0xDC00:02x}" if 0xDC80 <= number <= 0xDCFF else f"\\u{number:04x}"
