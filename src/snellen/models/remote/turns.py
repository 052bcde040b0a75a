"""When requests to one service may start, whatever connection they go by: so many per second, none while it asks to wait, and no
more than were paid for."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from snellen.errors import UserError
from snellen.models.remote.token_use import TokenUse


class BudgetSpent(UserError):
    """No request is left of a budget."""


class SentTally(Protocol):
    """How many requests were sent, and the tokens that answers stated."""

    def total(self) -> int: ...
    def add(self, requests: int) -> None: ...
    def tokens(self) -> TokenUse: ...
    def add_tokens(self, use: TokenUse) -> None: ...


@dataclass
class TallyInMemory:
    """The requests and tokens of this process."""

    requests: int = 0
    use: TokenUse = field(default_factory=TokenUse)

    def total(self) -> int:
        return self.requests

    def add(self, requests: int) -> None:
        self.requests += requests

    def tokens(self) -> TokenUse:
        return self.use

    def add_tokens(self, use: TokenUse) -> None:
        self.use += use


@dataclass
class Turns:
    """The turns of all connections to one service: at most `rate` requests start per second, and at most `budget` in all.

    `answers` counts what the service answered, `seconds` how long it took for that in all. `clock` and `sleep` tell and pass the
    time, in seconds. `tally` counts what was sent.
    """

    rate: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    budget: float = math.inf
    tally: SentTally = field(default_factory=TallyInMemory)
    answers: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)
    _next: float = field(default=-1.0, init=False, repr=False)
    _pauses: int = field(default=0, init=False, repr=False)
    _closed_until: float = field(default=-1.0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self) -> None:
        """Wait until the next request may start, and count it. One that a pause overtakes while it waits takes a new turn behind
        it. BudgetSpent where it would be one too many."""
        while True:
            with self._lock:
                self._check_budget()
                pauses, now = self._pauses, self.clock()
                start = max(now, self._next)
                self._next = start + 1 / self.rate
            if start > now:
                self.sleep(start - now)
            with self._lock:
                if pauses == self._pauses:
                    self._check_budget()
                    self.tally.add(1)
                    return

    def pause(self, seconds: float) -> None:
        """Start no request for so long."""
        with self._lock:
            self._closed_until = max(self._closed_until, self.clock() + seconds)
            self._next = self._closed_until
            self._pauses += 1

    def count_answer(self, seconds: float) -> None:
        """Note that a request was answered in so many seconds."""
        with self._lock:
            self.answers += 1
            self.seconds += seconds

    def count_tokens(self, use: TokenUse) -> None:
        """Note the tokens that an answer stated."""
        with self._lock:
            self.tally.add_tokens(use)

    def _check_budget(self) -> None:
        if self.tally.total() >= self.budget:
            raise BudgetSpent(
                f"{self.tally.total():,} requests were sent, and #budget={self.budget:.0f} allows no more"
            )
