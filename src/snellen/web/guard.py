"""What stands in front of every app: who may call it by which name, how much may be sent, what a page may do."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024  # of a body: an answer is under 1 KiB
MOST_SECONDS = 30.0  # for a body to arrive
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_READS = ("GET", "HEAD", "OPTIONS")


class Guard:
    """An ASGI app in front of another, which sees only requests that pass.

    - The host is one of `hosts` (DNS rebinding: a page elsewhere that names this machine as its own is refused, 421).
    - What changes something does not come from another site, as browsers tell by Sec-Fetch-Site and Origin (403).
    - A body is whole, arrived within half a minute and has at most `most` bytes (408, 413).

    Answers get the security headers, and `cache-control: no-store` where they say nothing of their own.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], most: int = MOST_BYTES) -> None:
        self.app, self.hosts, self.most = app, hosts, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        send = _with_headers(send)
        headers = Headers(scope=scope)
        if refusal := self._refusal(scope["method"], headers):
            return await _refuse(send, *refusal)
        try:
            async with asyncio.timeout(MOST_SECONDS):
                body = await self._body(receive)
        except TimeoutError:
            return await _refuse(send, 408, "the request did not arrive in time")
        if body is None:
            return await _refuse(send, 413, f"expected at most {self.most} bytes")
        await self.app(scope, _replay(body, receive), send)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        names = headers.getlist("host")
        if len(names) != 1 or _without_port(names[0]) not in self.hosts:
            return 421, "this server is not known by that host name"
        if method not in _READS and self._is_foreign(headers):
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return 400, "expected content-length as a number"
        if len(length) > 15 or int(length) > self.most:
            return 413, f"expected at most {self.most} bytes"
        return None

    def _is_foreign(self, headers: Headers) -> bool:
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = headers.get("origin", "null")  # null: a form of a page that sends no referrer, as ours
        return origin != "null" and (urlsplit(origin).netloc or "").lower() != headers["host"].lower()

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None where it is too long."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""  # they have gone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.most:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)


def _without_port(name: str) -> str:
    """`localhost:8000` → `localhost`; `[::1]:8000` → `[::1]`."""
    host, colon, port = name.rpartition(":")
    return (host if colon and port.isdigit() else name).lower()


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
