"""Ctrl-C in the first moments of a command: one line, no traceback. It imports next to nothing, so that it is in place early."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = "stopped; the same command continues where it was"  # what Ctrl-C ends in


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """Let Ctrl-C inside end the process here and now: nothing is begun yet, and an exception might be caught by a library that
    is being imported. Whoever handles Ctrl-C otherwise is left alone."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    yield
    signal.signal(signal.SIGINT, before)


def _stop(*_: object) -> None:
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(130)
