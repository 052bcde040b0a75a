"""What an attacker, a spreadsheet or a broken disk puts where a value should be."""

from __future__ import annotations

from random import Random
from typing import Any

NAMES: tuple[bytes, ...] = (
    b"\xff\xfe\x80",
    b"new\nline",
    b"\x1b[31mred\x1b[0m",
    b"<script>alert(1)</script>".replace(b"/", b"-"),
    b"=cmd|' -C calc'!A0",
    b"-rf",
    b"..",
    b"a" * 240,
    "é\u202egnp".encode(),
    b"%00",
    b"a?b&c=d",
    b"'; drop table answers; --",
    b"{{7*7}}",
    b"*",
    b" ",
    b"\x7f",
)
TEXTS: tuple[str, ...] = (
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e30",
    "1e999",
    "-1",
    "0",
    "01",
    "3.5",
    "0x10",
    "1_000",
    "99999999999999999999",
    "true",
    "None",
    "null",
    "²",
    "٣",
    "\ufeff",
    "\x00",
    "\x1b[2J",
    "line\nbreak",
    "tab\tstop",
    "\u2028",
    "\ud800",
    "\udcff",
    "=1+1",
    "@SUM(A1)",
    "+cmd|' /C calc'!A0",
    "<img src=x onerror=alert(1)>",
    "../../../etc/passwd",
    "/etc/passwd",
    "/dev/zero",
    "CON",
    "a" * 10_000,
    "{}",
    "[1, 2]",
    "'",
    '"',
    "%s%n",
    "{0.__class__}",
    "2001-99-99",
    "python:os:abort",
    "zoo:smallnet@/etc/passwd",
)
NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    1,
    2,
    255,
    256,
    65536,
    2**31,
    2**31 - 1,
    2**53 + 1,
    2**63,
    2**63 - 1,
    -(2**63),
    2**64,
    10**30,
    0.5,
    -0.0,
    1e-320,
    1e30,
    1.7e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)


def text(draw: Random) -> str:
    return draw.choice(TEXTS)


def number(draw: Random) -> Any:
    return draw.choice(NUMBERS)


def value(draw: Random) -> Any:
    """Anything that JSON or YAML can hold."""
    kind = draw.randrange(8)
    if kind <= 2:
        return text(draw)
    if kind <= 4:
        return number(draw)
    return draw.choice([None, True, False, [], {}, [[]], [None], {"": None}, [1, "a"], {"id": {"id": []}}])


def some_bytes(draw: Random, most: int = 64) -> bytes:
    return draw.randbytes(draw.randint(1, most))
