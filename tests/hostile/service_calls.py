"""A web service at the level of sockets: its answer is a file of bytes, damaged in the ways that HTTP can be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from random import Random

from .mutate import in_bytes
from .outcome import Different
from .raw_service import serve_bytes

AGAIN, HOLD = b"\x00AGAIN\x00", b"\x00HOLD\x00"  # send what follows over and over; stay silent with the connection open
BODY = b'{"probabilities": [[0.25, 0.75]]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PLAIN = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x;note=a\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n" % (len(BODY), BODY)
TIMES = 20_000  # as often as a part is sent over and over


def asked(folder: Path) -> object:
    """The answer of a service that sends the bytes of a file, or why there is none."""
    from snellen.files import read_bytes
    from snellen.models.remote.address import Address
    from snellen.models.remote.client import Client, Declined
    from snellen.models.remote.protocol import read_answer

    content = read_bytes(folder / "answer.http")
    patient = AGAIN not in content and HOLD not in content
    with serve_bytes(lambda: pieces_of(content), path="/answer.http") as url:
        try:
            body = Client(Address(url, timeout=60 if patient else 0.05, retries=0)).post(b"{}")
        except Declined:
            return "declined"
        answers, _ = read_answer(body, (1, 4, 4), "classification", url)
    if answers.shape != (1, answers.shape[1]):
        raise Different(f"answers of shape {answers.shape} for one image")
    return answers


def pieces_of(content: bytes) -> Iterator[bytes]:
    """What is sent, piece by piece; then the connection is closed."""
    first, _, again = content.partition(AGAIN)
    yield from first.split(HOLD)[:1] if HOLD in first else [first]
    if again and HOLD not in first:
        yield from repeat(again, TIMES)
    if HOLD in content:
        return  # the next request never comes
    raise ConnectionAbortedError


def mutate(file: Path, draw: Random) -> str:
    """Change the bytes of an answer as services and those between may."""
    content = file.read_bytes()
    how = draw.choice(["again", "hold", "header", "status", "length", "chunk", "trailer", "continue", "lines"])
    line_ends = [place for place in range(len(content)) if content.startswith(b"\r\n", place)] or [0]
    place = draw.choice(line_ends)
    value = draw.choice(
        [b"-1", b"0", b"1e3", b"99999999999999999999", b"\xff", b"", b"33, 33", b"0x21", b" 33", b"y" * 70_000]
    )
    if how == "again":
        start = draw.randrange(len(content) + 1)
        content = content[:start] + AGAIN + content[start : start + draw.choice([1, 2, 30])]
    elif how == "hold":
        start = draw.randrange(len(content) + 1)
        content = content[:start] + HOLD + content[start:]
    elif how == "header":
        name = draw.choice(
            [b"Content-Length", b"Transfer-Encoding", b"Retry-After", b"Location", b"X\x00", b"", b"Connection"]
        )
        content = content[:place] + b"\r\n" + name + draw.choice([b": ", b":", b" "]) + value + content[place:]
    elif how == "status":
        number = draw.choice(
            [b"200", b"100", b"204", b"304", b"302", b"400", b"429", b"503", b"999", b"-1", b"2e2", b""]
        )
        version = draw.choice([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2", b"HTTP/9.9", b"ICY", b""])
        content = version + b" " + number + b" " + draw.choice([b"OK", b"", b"\x1b[31m", b"\xff"]) + content[15:]
    elif how == "length":
        content = content.replace(b"Content-Length: 33", b"Content-Length: " + value)
    elif how == "chunk":
        content = content.replace(
            b"21;note=a", draw.choice([value, b"21", b"22", b"-21", b"21;" + b"n" * 70_000, b"ffffffffff"])
        )
    elif how == "trailer":
        content = content[: -draw.choice([2, 4, 9])] + b"X: y\r\n" * draw.choice([1, 500, 100_000])
    elif how == "continue":
        content = b"HTTP/1.1 100 Continue\r\n\r\n" * draw.choice([1, 1000]) + content
    else:
        content = content.replace(b"\r\n", draw.choice([b"\n", b"\r", b"\r\n\r\n", b""]))
    if draw.random() < 0.2:
        file.write_bytes(content)
        return f"http: {how}; {in_bytes.mutate(file, draw)}"
    file.write_bytes(content)
    return f"http: {how}"
