"""The time-out of a web service is for the whole exchange, whatever the service sends, and however slowly."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import UserError
from snellen.models.remote.address import Address
from snellen.models.remote.client import Client

from ..hostile.raw_service import serve_bytes
from .service import Time

MANY = 200_000  # far more than a client that looks at the clock will wait for, and an end for one that does not
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

DRIPS = {  # what comes first, then what comes again and again
    "status line": (b"", b"H"),
    "reason": (b"HTTP/1.1 200 ", b"O"),
    "header": (HEAD + b"X: ", b"y"),
    "body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
    "body without an end": (HEAD + b"\r\n", b" "),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "chunk size": (CHUNKED, b"0"),
    "chunk extension": (CHUNKED + b"2;", b"x"),
    "trailer": (CHUNKED + b"2\r\n{}\r\n0\r\nX: ", b"y"),
    "endless trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "head of 100 Continue": (b"HTTP/1.1 100 Continue\r\nX: ", b"y"),
}


def drip(part: str, times: int = MANY) -> Iterator[bytes]:
    first, again = DRIPS[part]
    yield first
    yield from repeat(again, times)
    raise ConnectionAbortedError  # close the connection


@dataclass
class Looks(Time):
    """A clock on which a second passes between one look and the next."""

    def clock(self) -> float:
        self.now += 1
        return self.now


def impatient(url: str, time: Time, retries: int = 0) -> Client:
    return Client(Address(url, timeout=12, retries=retries), time.clock, time.sleep)


@pytest.mark.parametrize("part", DRIPS)
def test_no_part_of_an_answer_may_drip_past_the_time_out(part: str) -> None:
    with serve_bytes(lambda: drip(part)) as url, pytest.raises(UserError, match="did not answer within 12 s"):
        impatient(url, Looks()).post(b"{}")


@pytest.mark.parametrize("part", ["endless trailers", "100 Continue"])
def test_a_service_that_drips_is_left_on_a_real_clock_too(part: str) -> None:
    """It sends as fast as it can until the client has gone, for minutes if need be."""
    with serve_bytes(lambda: drip(part, 100 * MANY)) as url, pytest.raises(UserError, match="within 0.05 s"):
        Client(Address(url, timeout=0.05, retries=0)).post(b"{}")


def test_every_try_has_a_time_out_of_its_own_and_a_good_answer_is_taken() -> None:
    drips = iter([drip("reason"), [ANSWER], [ANSWER]])
    time = Looks()
    with serve_bytes(lambda: next(drips)) as url:
        client = impatient(url, time, retries=1)
        assert client.post(b"{}") == b"{}"
        assert time.naps == [0.5]
        assert client.post(b"{}") == b"{}"  # on the same connection, whose first deadline has passed
        assert time.now > 2 * 12


def test_a_request_that_the_service_does_not_read_ends_too() -> None:
    body = b" " * (64 << 20)  # more than fits between the two sides
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(Address(f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout=0.05, retries=0))
        with pytest.raises(UserError, match="within 0.05 s"):
            client.post(body)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of localhost and its key, in one file."""
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([*words.split(), "-keyout", file, "-out", file.with_suffix(".crt")], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + file.with_suffix(".crt").read_bytes())
    return file


def test_a_handshake_that_never_ends_is_left_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # takes the connection and says nothing
        client = Client(Address(f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=0.05, retries=0))
        with pytest.raises(UserError, match="within 0.05 s"):
            client.post(b"{}")


@pytest.mark.parametrize(("pieces", "answers"), [([ANSWER], True), (drip("trailer"), False)])
def test_the_same_holds_through_tls(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, pieces: Any, answers: bool
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with serve_bytes(lambda: pieces, tls) as url:
        if answers:
            assert Client(Address(url, retries=0)).post(b"{}") == b"{}"
            return
        with pytest.raises(UserError, match="did not answer within 12 s"):
            impatient(url, Looks()).post(b"{}")
