"""Fields of the headers of a tar file that lie, with a checksum that holds: without it no reader would look at them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from .unfit import Unfit

BLOCK = 512
FIELDS = {
    "name": (0, 100),
    "size": (124, 12),
    "type": (156, 1),
    "link": (157, 100),
    "magic": (257, 8),
    "prefix": (345, 155),
}
SIZES = (
    b"00000000000\0",
    b"77777777777\0",
    b"\x80" + b"\0" * 10 + b"\x01",
    b"\x80" + b"\x7f" * 11,
    b"\xff" * 12,
    b"-1\0",
)
TYPES = (b"0", b"\0", b"1", b"2", b"3", b"5", b"6", b"7", b"D", b"K", b"L", b"S", b"V", b"X", b"g", b"x", b"\xff")
TEXTS = (
    b"",
    b"../../x.png",
    b"/etc/x.png",
    b"a/\xff\xfe.png",
    b"a" * 200,
    b"a/\n.png",
    b"ustar\x0000",
    b"30 path=" + b"9" * 90,
)


def mutate(file: Path, draw: Random) -> str:
    content = bytearray(file.read_bytes())
    headers = [start for start in range(0, len(content), BLOCK) if content[start + 257 : start + 262] == b"ustar"]
    if not headers:
        raise Unfit
    start = draw.choice(headers)
    name = draw.choice(list(FIELDS))
    begin, length = FIELDS[name]
    value = draw.choice({"size": SIZES, "type": TYPES}.get(name, TEXTS))
    header = content[start : start + BLOCK]
    header[begin : begin + length] = value[:length].ljust(length, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    content[start : start + BLOCK] = header
    file.write_bytes(content)
    return f"the {name} of the header at {start} is {value[:20]!r}"
