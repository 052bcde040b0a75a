"""A service at the level of sockets: it reads a request and then sends whatever bytes a test writes, valid HTTP or not."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

Pieces = Callable[[], Iterable[bytes]]


@contextmanager
def serve_bytes(pieces: Pieces, tls: ssl.SSLContext | None = None, path: str = "/predict") -> Iterator[str]:
    """The URL of a service that answers each request on each connection with the pieces, one `send` per piece."""
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_accept, args=(listener, pieces, tls), daemon=True)
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://localhost:{listener.getsockname()[1]}{path}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _accept(listener: socket.socket, pieces: Pieces, tls: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError):  # the listener was closed
        while True:
            _answer_in_thread(listener.accept()[0], pieces, tls)


def _answer_in_thread(connection: socket.socket, pieces: Pieces, tls: ssl.SSLContext | None) -> None:
    threading.Thread(target=_answer, args=(connection, pieces, tls), daemon=True).start()


def _answer(connection: socket.socket, pieces: Pieces, tls: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError):  # a client that left is what many tests are about
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=True)
        with connection:
            while _read_request(connection):
                for piece in pieces():
                    connection.sendall(piece)


def _read_request(connection: socket.socket) -> bool:
    """Whether a whole request came."""
    content = b""
    while b"\r\n\r\n" not in content:
        if not (piece := connection.recv(1 << 16)):
            return False
        content += piece
    head, _, body = content.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    left = int(length[1] if length else 0) - len(body)
    while left > 0:
        if not (piece := connection.recv(1 << 16)):
            return False
        left -= len(piece)
    return True
