"""A web server over a folder, as a host of files would be, which can be told to fail."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from urllib.parse import unquote

import pytest

from snellen.files.remote import patience


def ask_quickly(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask this machine's servers without pauses, and keep what they send in a cache of the test's own."""
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(patience, "PAUSES", (0.0, 0.0, 0.0))


class Served(ThreadingHTTPServer):
    """Files of a folder, in parts where a request wants one.

    `requests` are those that came, as `GET /a.png 0-9`, or `LOOK /a.png` for a size.

    `odd` may answer a request itself: it is given the handler and returns True where it has.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.requests: list[str] = []
        self.odd: Callable[[Handler], bool] = lambda handler: False
        self.etags = True
        self.lock = Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, beginning: str) -> int:
        """Requests that begin so."""
        with self.lock:
            return sum(one.startswith(beginning) for one in self.requests)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is gone is no failure of the test."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Served

    def log_message(self, *arguments: object) -> None:
        pass

    @property
    def looks(self) -> bool:
        """Whether the request asks for a file's size, by its first byte."""
        return self.headers.get("Range") == "bytes=0-0"

    def do_GET(self) -> None:
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        wanted = f" {part[1]}-{part[2]}" if part else ""
        with self.server.lock:
            self.server.requests.append(f"LOOK {self.path}" if self.looks else f"GET {self.path}{wanted}")
        if self.server.odd(self):
            return
        file = self.server.folder / unquote(self.path).lstrip("/")
        if not file.is_file():
            self.reply(404, b"")
            return
        content = file.read_bytes()
        mark = {"ETag": f'"{hashlib.md5(content).hexdigest()}"'} if self.server.etags else {}
        if part is None:
            self.reply(200, content, **mark)
            return
        start, stop = int(part[1]), min(int(part[2]) + 1, len(content))
        if start >= len(content):
            self.reply(416, b"", **mark, **{"Content-Range": f"bytes */{len(content)}"})
            return
        self.reply(206, content[start:stop], **mark, **{"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"})

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    server = Served(folder)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
