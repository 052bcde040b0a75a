"""A small web service in a thread: what it does with each request is a list of functions that a test writes."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

Reply = tuple[int, dict[str, str], bytes]  # status, headers, body
Behaviour = Callable[[bytes], Reply]


def images_in(body: bytes) -> list[np.ndarray]:
    """The images of a request, as a user's service would decode them."""
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(one)))) for one in json.loads(body)["images"]]


def reply(content: Any, status: int = 200, **headers: str) -> Reply:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, body


def brightness(body: bytes) -> Reply:
    """A model of two classes: how dark and how bright an image is."""
    shares = [float(image.mean()) / 255 for image in images_in(body)]
    return reply({"probabilities": [[1 - share, share] for share in shares], "classes": ["dark", "bright"]})


def status(number: int, **headers: str) -> Behaviour:
    return lambda body: reply(b"out of order", number, **headers)


@dataclass
class Server:
    """A running service: `url`, the requests it got (path, headers, body), and what it does next, the last of which stays."""

    url: str
    behaviours: list[Behaviour]
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def next(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]


@contextmanager
def serve(*behaviours: Behaviour, version: str = "HTTP/1.1") -> Iterator[Server]:
    """A service on a free port of this machine."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = version
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                server.requests.append((self.path, dict(self.headers), body))
                behaviour = server.next()
            number, headers, content = behaviour(body)
            self.send_response(number)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None: ...

    class Web(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that left is no news: some tests are about that."""

    web = Web(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{web.server_port}/predict", list(behaviours) or [brightness])
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


@dataclass
class Time:
    """A clock that only sleeping moves; `naps` are the seconds slept."""

    now: float = 0.0
    naps: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds


def bodies(requests: Sequence[tuple[str, dict[str, str], bytes]]) -> list[int]:
    """How many images each request held."""
    return [len(json.loads(body)["images"]) for _, _, body in requests]
