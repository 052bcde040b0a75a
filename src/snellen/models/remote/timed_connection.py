"""Connections whose every step, from connecting to the last byte of an answer, ends by one moment.

A time-out of a socket is per call: a service that sends a byte now and then would hold a caller for ever.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Deadline:
    """The moment on a clock, in seconds, by which an exchange must have ended."""

    clock: Callable[[], float]
    end: float

    def left(self) -> float:
        """The seconds until then, above 0; TimeoutError where there are none."""
        left = self.end - self.clock()
        if left <= 0:
            raise TimeoutError
        return left


class _Timed(socket.socket):
    """Receives and sends until `deadline`."""

    deadline: Deadline

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        self.settimeout(self.deadline.left())
        count = super().recv_into(*arguments, **named)
        self.deadline.left()
        return count

    def sendall(self, data: Any, flags: int = 0) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            self.settimeout(self.deadline.left())
            rest = rest[self.send(rest, flags) :]


class _TimedTls(_Timed, ssl.SSLSocket):
    """The same through TLS, whose handshake is one call."""


class TimedConnection(http.client.HTTPConnection):
    """A connection to a host, through TLS where there is a `context`; give each request a deadline by `limit`."""

    sock: _Timed | None

    def __init__(self, host: str, port: int | None, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port or (443 if context else 80))
        self._context = context
        if context is not None:
            context.sslsocket_class = _TimedTls

    def limit(self, deadline: Deadline) -> None:
        self._deadline = deadline
        if self.sock is not None:
            self.sock.deadline = deadline

    def connect(self) -> None:
        """Try the addresses of the host one after the other, all before the deadline."""
        plain = _first_that_answers(self.host, self.port, self._deadline)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(self._deadline.left())
        if self._context is None:
            self.sock = _Timed(plain.family, plain.type, plain.proto, fileno=plain.detach())
        else:
            self.sock = self._context.wrap_socket(plain, server_hostname=self.host)  # type: ignore[assignment]
        assert self.sock is not None
        self.sock.deadline = self._deadline


def _first_that_answers(host: str, port: int, deadline: Deadline) -> socket.socket:
    failure: OSError = OSError("the name of the host has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.settimeout(deadline.left())
            plain.connect(address)
            return plain
        except OSError as error:
            plain.close()
            failure = error
    raise failure
