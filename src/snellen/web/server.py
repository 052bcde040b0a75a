"""Running an app with uvicorn: one process, no log of who came, stopped by Ctrl-C."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from snellen.errors import UserError, option
from snellen.web.guard import Guard
from snellen.web.serve_request import ServeRequest


def serve(app: ASGIApp, at: ServeRequest, announce: Callable[[str], None]) -> None:
    """Serve an app behind a `Guard` until Ctrl-C or SIGTERM; `announce` receives its address once it accepts visitors.

    Requests that have begun are answered before it ends.
    """
    listener = _listen(at)
    server = _server(app, at, lambda: announce(at.url(listener.getsockname()[1])))
    try:
        server.run(sockets=[listener])
    finally:
        listener.close()


@contextmanager
def background(app: ASGIApp, at: ServeRequest | None = None) -> Iterator[str]:
    """Serve an app in a thread beside the body; its address, by default on a free port of localhost.

    >>> from urllib.request import urlopen
    >>> from starlette.applications import Starlette
    >>> from starlette.responses import PlainTextResponse
    >>> from starlette.routing import Route
    >>> from snellen.web import background
    >>> with background(Starlette(routes=[Route("/", lambda request: PlainTextResponse("hello"))])) as address:
    ...     urlopen(address).read()
    b'hello'
    """
    at = at or ServeRequest(port=0)
    listener, started = _listen(at), threading.Event()
    server = _server(app, at, started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="server", daemon=True)
    thread.start()
    try:
        while not started.wait(0.05):
            if not thread.is_alive():
                raise RuntimeError("the server ended before it accepted visitors")
        yield at.url(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class _Server(uvicorn.Server):
    """A server that says when it accepts visitors."""

    ready: Callable[[], object]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()


def _server(app: ASGIApp, at: ServeRequest, ready: Callable[[], object]) -> _Server:
    config = uvicorn.Config(
        Guard(app, at.allowed),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,  # it would write down addresses of people
        server_header=False,
        proxy_headers=at.proxy is not None,
        forwarded_allow_ips=at.proxy or "",
        backlog=1024,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    server.ready = ready
    return server


def _listen(at: ServeRequest) -> socket.socket:
    """A listening socket; an address that is taken or not ours is one line."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(at.host, at.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        advice = f"choose another {option('port')} (0 takes a free one) or {option('host')}"
        raise UserError(f"cannot listen on {at.host}:{at.port}: {reason}; {advice}") from None
    return listener
