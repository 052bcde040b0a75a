"""When requests to one service may start, whatever connection they go by: so many per second, and none while it asks to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Turns:
    """The turns of all connections to one service: at most `rate` requests start per second.

    `answers` counts what the service answered. `clock` and `sleep` tell and pass the time, in seconds.
    """

    rate: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    answers: int = field(default=0, init=False)
    _next: float = field(default=-1.0, init=False, repr=False)
    _pauses: int = field(default=0, init=False, repr=False)
    _closed_until: float = field(default=-1.0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self) -> None:
        """Wait until the next request may start. One that a pause overtakes while it waits takes a new turn behind it."""
        while True:
            with self._lock:
                pauses, now = self._pauses, self.clock()
                start = max(now, self._next)
                self._next = start + 1 / self.rate
            if start > now:
                self.sleep(start - now)
            if pauses == self._pauses:
                return

    def pause(self, seconds: float) -> None:
        """Start no request for so long."""
        with self._lock:
            self._closed_until = max(self._closed_until, self.clock() + seconds)
            self._next = self._closed_until
            self._pauses += 1

    def count_answer(self) -> None:
        with self._lock:
            self.answers += 1
