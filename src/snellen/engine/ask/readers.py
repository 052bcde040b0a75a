"""Readers: processes that decode photos for the threads of a pool.

Threads of one process wait for each other while one holds Python's lock: from some twelve on, more threads read less. A reader
loads the data once more by their text, so this pays for many photos in files, and nothing else is read by readers.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import current_process
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

import numpy as np

from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.data.origin import Origin
from snellen.engine.ask.sheet import Facts, Sheet, Wanted, blank_sheet, fill, no_facts
from snellen.errors import is_command
from snellen.processes import Context, begin_beside

MOST_THREADS = 12  # that read in one process: 16 read a quarter less (docs/results/performance.md)
LEAST = 10_000  # photos to be read: fewer do not earn back the half second of a core that a reader takes to start
MOST = 200_000  # samples of the data: each reader holds their listing
_UP = b"up"


@dataclass(frozen=True)
class Reader:
    """One process and the line to it, which is closed when nobody reads from it any more."""

    process: Any
    line: Connection

    def fill(self, positions: Sequence[int], sheet: Sheet) -> None:
        """Have the samples at these positions of its data read; OSError or EOFError where it has ended."""
        self.line.send(positions)
        facts: Facts = self.line.recv()
        for array in sheet.arrays():
            _receive(self.line.fileno(), array)
        sheet.facts = facts

    def close(self) -> None:
        self.process.kill()
        self.process.join()


class Readers:
    """The readers of `origin`, at most so many: those that are free, and those that are not up yet."""

    def __init__(self, origin: Origin | None = None, wanted: Wanted | None = None, most: int = 0) -> None:
        self.origin = origin
        self.all = [] if origin is None or wanted is None else list(_started(origin, wanted, most))
        self._starting, self._free, self._lock = list(self.all), deque[Reader](), Lock()

    def threads(self, wanted: int) -> int:
        """How many threads are worth while of so many wanted: each has a reader, or they are bounded."""
        return wanted if self.all else min(wanted, MOST_THREADS)

    def fill(self, positions: Sequence[int], sheet: Sheet) -> bool:
        """Have samples read by a reader that is free; whether there was one. One that has ended is not asked again."""
        reader = self._take()
        if reader is None or self.origin is None:
            return False
        try:
            reader.fill(self.origin.positions(positions), sheet)
        except (OSError, EOFError):
            for array in sheet.arrays():  # which may be filled in part
                array[:] = 0
            sheet.facts = no_facts(sheet.wanted, len(positions))
            return False
        self._free.append(reader)
        return True

    def _take(self) -> Reader | None:
        with self._lock:
            for reader in [one for one in self._starting if one.line.poll(0)]:
                self._starting.remove(reader)
                with suppress(OSError, EOFError):  # it has ended: it found other data, or could not be started
                    reader.line.recv_bytes()
                    self._free.append(reader)
            return self._free.popleft() if self._free else None

    def close(self) -> None:
        """End them all."""
        for reader in self.all:
            reader.close()


def readers_for(data: Dataset, wanted: Wanted, threads: int, count: int) -> Readers:
    """As many readers as threads, where that pays for so many photos of these data; else none."""
    origin = data.elsewhere
    pays = threads > MOST_THREADS and count >= LEAST and data.read_together is None
    possible = hasattr(os, "readv") and not current_process().daemon
    if origin is None or not pays or not possible or origin.count > MOST:
        return Readers()
    return Readers(origin, wanted, threads)


def _started(origin: Origin, wanted: Wanted, most: int) -> Iterator[Reader]:
    context = Context()
    with suppress(OSError):  # no more processes: those that there are will do
        for _ in range(most):
            here, there = context.Pipe()
            what = (there, origin.text, origin.fingerprint, wanted, is_command())
            process = context.Process(target=_serve, args=what, daemon=True)
            process.start()
            there.close()
            yield Reader(process, here)


def _serve(line: Connection, text: str, fingerprint: str, wanted: Wanted, typed: bool) -> None:
    """The life of a reader. It says nothing of what goes wrong: its parent then reads for itself, and says it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever typed it means the parent
    begin_beside(typed, ())
    with suppress(Exception):
        data = load_data(text)
        if data.fingerprint != fingerprint:
            return
        line.send_bytes(_UP)
        while True:
            positions = line.recv()
            sheet = blank_sheet(wanted, len(positions))
            fill(data, positions, sheet)
            line.send(sheet.facts)
            for array in sheet.arrays():
                _send(line.fileno(), array)


def _receive(place: int, array: np.ndarray) -> None:
    """Fill an array as it comes: a Connection would copy it twice while it holds Python's lock."""
    left = array.data.cast("B")
    while left:
        count = os.readv(place, [left])
        if not count:
            raise EOFError
        left = left[count:]


def _send(place: int, array: np.ndarray) -> None:
    left = array.data.cast("B")
    while left:
        left = left[os.write(place, left) :]
