"""A time limit on each shard of a local run, and on loading models: what hangs ends the run instead of holding it for ever."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

from snellen.errors import Hung, UserError
from snellen.terminal import tell

GRACE = 10.0  # seconds that a model gets to stop before the process is killed


class TookTooLong(UserError):
    """The error of a watchdog."""


class Watchdog:
    """Ends the body with TookTooLong, a UserError, in the main thread when more than `seconds` pass between two calls of `feed`.

    A signal interrupts Python and whatever waits (sleeping, sockets, locks). A call that does not return even then, such as
    a stuck kernel, leaves no other way than to end the process; whole shards are on disk, and the same command resumes.
    """

    what: str = "a shard"  # what takes too long, in the error

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._done, self._over = threading.Event(), threading.Event()

    def feed(self) -> None:
        """A shard is done: the time starts again."""
        self._done.set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the body runs, which must be in the main thread: only there can a signal interrupt it."""
        if threading.current_thread() is not threading.main_thread():
            raise UserError("--shard-timeout needs the main thread; leave it out, or use --engine ray")
        before = signal.signal(signal.SIGALRM, self._bark)
        thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        thread.start()
        try:
            try:
                yield
            finally:
                self._over.set()
        except Hung:
            raise TookTooLong(self.message) from None
        finally:
            self._over.set()
            self._done.set()
            thread.join()
            signal.signal(signal.SIGALRM, before)

    def _watch(self) -> None:
        while self._done.wait(self.seconds):
            if self._over.is_set():
                return
            self._done.clear()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
        if not self._over.wait(GRACE):
            tell(f"error: {self.message}; it did not stop and was killed")
            os._exit(2)

    def _bark(self, number: int, frame: FrameType | None) -> None:
        if not self._over.is_set():  # a body that has just ended is not interrupted any more
            raise Hung

    @property
    def message(self) -> str:
        advice = "run the same command again; it resumes" if self.what == Watchdog.what else "give it a higher limit"
        return f"{self.what} took more than {self.seconds:g} s (--shard-timeout): a model hangs, or needs more time; {advice}"


def watch(seconds: float | None, what: str = "a shard") -> AbstractContextManager[None]:
    """A watchdog over the body, which is `what` in the error, where a limit is given and it runs in the main thread."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        return nullcontext()
    watchdog = Watchdog(seconds)
    watchdog.what = what
    return watchdog.watching()
