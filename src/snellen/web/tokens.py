"""Who may come in: random tokens in personal links, stored as hashes, and the cookie by which people are known again.

A link carries its token behind `#` (`https://study.example.org/#TOKEN`), which browsers never send: no log of a server or a
proxy has it, no other site learns it. The page's script (`static/web.js`) posts it to the app's `enter`, which sets the cookie.
The cookie holds the token itself, so a server that restarts knows everyone again, and stores only its hash.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from snellen.web.bodies import Refusal

CSRF_HEADER = "x-csrf-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_MOST_VISITORS = 10_000  # whose failures are remembered


def new_token() -> str:
    """A token of 192 random bits, 32 characters that need no escape in an address."""
    return secrets.token_urlsafe(24)


def fingerprint(token: str) -> str:
    """What is stored of a token: its sha256 as 64 hex digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def same(first: str, second: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(first.encode(), second.encode())


def csrf_token(token: str) -> str:
    """The CSRF token of a session; it follows from the session's token and does not reveal it."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


class FailedTokens:
    """A limit on wrong tokens per visitor's address, in memory alone; right tokens are never counted."""

    def __init__(self, most: int = 20, seconds: float = 60.0) -> None:
        self.most, self.seconds = most, seconds
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def count(self, request: Request) -> None:
        """Remember a wrong token, of a link, a code or a cookie; refuse a visitor who has just sent too many (429)."""
        with self._lock:
            visitor = _visitor(request)
            times = self._recent(visitor)
            if len(times) >= self.most:
                raise Refusal(429, "too many wrong links; wait a minute and try again")
            times.append(time.monotonic())
            if len(self._times) >= _MOST_VISITORS and visitor not in self._times:
                self._times.pop(next(iter(self._times)))
            self._times[visitor] = times

    def _recent(self, visitor: str) -> deque[float]:
        times = self._times.get(visitor, deque(maxlen=self.most))
        while times and times[0] < time.monotonic() - self.seconds:
            times.popleft()
        return times


@dataclass(frozen=True)
class Door:
    """The cookie of one app: `name` of the cookie, whether it is for `https` alone, and the limit on wrong tokens."""

    name: str
    https: bool = False
    failed: FailedTokens = field(default_factory=FailedTokens)

    def token(self, request: Request) -> str:
        """The token in a visitor's cookie; empty where there is none that could be one."""
        return well_formed(request.cookies.get(self.name, ""))

    def open(self, response: Response, token: str, days: int = 30) -> Response:
        """The response with a cookie that lets its receiver in."""
        response.set_cookie(
            self.name, token, max_age=days * 86400, path="/", secure=self.https, httponly=True, samesite="strict"
        )
        return response

    def close(self, response: Response) -> Response:
        """The response that takes the cookie away."""
        response.delete_cookie(self.name, path="/", secure=self.https, httponly=True, samesite="strict")
        return response

    def check_csrf(self, request: Request) -> str:
        """The token in the cookie, where the request's header proves that the app's own page sent it; else refused (403)."""
        token = self.token(request)
        if not token:
            raise Refusal(401, "open your personal link first")
        if not same(request.headers.get(CSRF_HEADER, ""), csrf_token(token)):
            raise Refusal(403, f"expected the header {CSRF_HEADER} with the token of this session; load the page again")
        return token


def well_formed(text: str) -> str:
    """A text that may be a token as it is; empty for any other."""
    return text if _TOKEN.fullmatch(text) else ""


def _visitor(request: Request) -> str:
    return request.client.host if request.client else "unknown"
