"""One connection to a service over HTTP: requests bounded in time and size, sent again where that may help.

Redirects are not followed and proxies not used: images go where the address says and nowhere else.
"""

from __future__ import annotations

import email.utils
import http.client
import os
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from snellen.errors import UserError
from snellen.files import MIB
from snellen.files.net import reason_of
from snellen.files.plain import format_size
from snellen.models.remote.address import Address
from snellen.models.remote.timed_connection import Deadline, TimedConnection
from snellen.models.remote.turns import BudgetSpent, Turns
from snellen.version import __version__

MOST_ANSWER = 64 * MIB
LONGEST_WAIT = 300.0  # seconds that a service may ask for by Retry-After
FIRST_WAIT, MOST_BACKOFF = 0.5, 30.0  # seconds between tries: the first, doubled each time, up to the most
DECLINED = (400, 413, 415, 422)  # the service does not take these images; it may take others
_PIECE = 1 << 16


Accept = Callable[
    [bytes], None
]  # looks at an answer before it is taken; UnreadableAnswer where it should be asked for again


def turns_of(address: Address, clock: Callable[[], float], sleep: Callable[[float], None]) -> Turns:
    """The turns of the connections to an address."""
    return Turns(address.rate, clock, sleep, address.budget)


class Declined(RuntimeError):
    """The service is there and does not take these images; `content` is what it answered."""

    def __init__(self, text: str, content: bytes = b"") -> None:
        super().__init__(text)
        self.content = content


class UnreadableAnswer(Declined):
    """The service answered, and what it says about these images cannot be read."""


@dataclass(frozen=True)
class Trouble:
    """Why a request failed that may be sent again, and for how many seconds the service asks to wait.

    `busy` is one that the service put off; `unreadable` one whose answer came and could not be read.
    """

    reason: str
    wait: float | None = None
    busy: bool = False
    unreadable: bool = False


@dataclass
class Client:
    """A connection to one address. `clock` and `sleep` tell and pass the time, in seconds; `turns` are shared by the
    connections to one service."""

    address: Address
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    turns: Turns = None  # type: ignore[assignment]  # its own where none are given
    _connection: TimedConnection | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.turns is None:
            self.turns = turns_of(self.address, self.clock, self.sleep)

    def post(self, body: bytes, accept: Accept = lambda content: None) -> bytes:
        """The service's answer to a JSON body; errors of the service and the network are tried again `retries` times.

        A request that is put off while others are answered has had no try: its turn has not come yet.
        """
        with self._lock:
            tries, answers = 0, self.turns.answers
            while True:
                self._take_turn()
                began = self.clock()
                outcome = self._try(body, accept)
                if isinstance(outcome, bytes):
                    self.turns.count_answer(self.clock() - began)
                    return outcome
                tries += not (outcome.busy and self.turns.answers > answers)
                answers = self.turns.answers
                if tries > self.address.retries:
                    raise self._failed(outcome)
                self._wait_after(outcome, tries)

    def _take_turn(self) -> None:
        try:
            self.turns.take()
        except BudgetSpent as error:
            raise BudgetSpent(f"{self.address.url}: {error}") from None

    def _failed(self, trouble: Trouble) -> Exception:
        """What is raised for a request that is not sent again."""
        tries = f" ({self.address.retries + 1} tries)" if self.address.retries else ""
        if trouble.unreadable:
            return UnreadableAnswer(f"{self.address.url} {trouble.reason}{tries}")
        return UserError(
            f"{self.address.url} {trouble.reason}{tries}; check the service, then run the same command again"
        )

    def _wait_after(self, trouble: Trouble, tries: int) -> None:
        """Wait before the request is sent again; where the service asks for it, all requests to it wait."""
        if trouble.wait is None:
            self.sleep(min(FIRST_WAIT * 2 ** max(0, tries - 1), MOST_BACKOFF))
        elif trouble.wait > LONGEST_WAIT:
            raise UserError(
                f"{self.address.url} {trouble.reason} and asks to wait {trouble.wait:,.0f} s, more than the "
                f"{LONGEST_WAIT:g} s that are waited; run the same command again after that"
            )
        else:
            self.turns.pause(trouble.wait)

    def _try(self, body: bytes, accept: Accept) -> bytes | Trouble:
        """One request, which ends by the time-out: the content of the answer, or what went wrong."""
        outcome = self._send(body)
        if isinstance(outcome, bytes):
            try:
                accept(outcome)
            except UnreadableAnswer as error:
                return Trouble(str(error), unreadable=True)
        return outcome

    def _send(self, body: bytes) -> bytes | Trouble:
        deadline = Deadline(self.clock, self.clock() + self.address.timeout)
        try:
            if self._connection is None:
                return self._exchange(body, deadline)
            return self._exchange_again(body, deadline)
        except (UserError, Declined):
            self._close()
            raise
        except TimeoutError:
            self._close()
            return Trouble(f"did not answer within {self.address.timeout:g} s, the time-out")
        except ssl.SSLCertVerificationError as error:
            self._close()
            raise UserError(f"{self.address.url} has no valid certificate: {error.verify_message}") from None
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            self._close()
            name = type(error).__name__
            return Trouble(
                f"cannot be reached: {reason_of(error)}" + ("" if isinstance(error, OSError) else f" ({name})")
            )

    def _exchange_again(self, body: bytes, deadline: Deadline) -> bytes | Trouble:
        """One request on the connection of the last one, which the service may have closed meanwhile: that is no trouble."""
        try:
            return self._exchange(body, deadline)
        except ConnectionError:
            self._close()
            return self._exchange(body, deadline)

    def _exchange(self, body: bytes, deadline: Deadline) -> bytes | Trouble:
        connection = self._connection = self._connection or self._connect()
        connection.limit(deadline)
        connection.request("POST", self.address.target, body, self._headers())
        response = connection.getresponse()
        content = self._content(response)
        return content if response.status == 200 else self._failure(response, content)

    def _connect(self) -> TimedConnection:
        parts = self.address.parts
        assert parts.hostname is not None
        context = ssl.create_default_context() if parts.scheme == "https" else None
        return TimedConnection(parts.hostname, parts.port, context)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"snellen/{__version__}",
        }
        if self.address.token:
            secret = os.environ.get(self.address.token, "")
            if not secret.isascii() or not secret.isprintable() or not secret:
                raise UserError(f"{self.address.url}: the environment variable '{self.address.token}' holds no token")
            headers["Authorization"] = f"Bearer {secret}"
        return headers

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """The body of an answer, as it comes, until its end or the most that is read."""
        content = b""
        while piece := response.read1(_PIECE):
            content += piece
            if len(content) > MOST_ANSWER:
                raise UserError(
                    f"{self.address.url} answered more than {format_size(MOST_ANSWER)}, the most that is read; ask for "
                    "fewer images at once: #batch="
                )
        if response.length:
            raise http.client.IncompleteRead(content, response.length)
        response.close()  # frees the connection for the next request
        return content

    def _failure(self, response: http.client.HTTPResponse, content: bytes) -> Trouble:
        """What an answer other than 200 means: trouble that may pass, or an error."""
        status = f"answered {response.status} {response.reason}".rstrip()
        if response.status == 429 or response.status >= 500:
            wait = retry_after(response.headers.get("Retry-After"))
            return Trouble(status, wait, busy=response.status == 429 or wait is not None)
        if 300 <= response.status < 400:
            place = response.headers.get("Location", "nowhere")
            raise UserError(
                f"{self.address.url} {status} to '{place[:200]}'; redirects are not followed: give that URL"
            )
        words = " ".join(content[:200].decode(errors="replace").split())
        text = f"{self.address.url} {status}{f' ({words})' if words else ''}; expected 200 with JSON"
        raise Declined(text, content) if response.status in DECLINED else UserError(text)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def retry_after(value: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as a date; None where it asks for none."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if seconds == seconds else None
