"""Readers: processes that decode photos for the threads of a pool.

Threads of one process wait for each other while one holds Python's lock: from some twelve on, more threads read less. A reader
loads the data once more by their text, so this pays for many photos in files, and nothing else is read by readers. What it reads
it puts into memory that both see.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import current_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import DupFd
from threading import Lock
from typing import Any

from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.data.origin import DataOrigin
from snellen.data.sheet import PhotoFacts, PhotoSheet, Wanted, bytes_of, fill, sheet_in
from snellen.errors import is_command
from snellen.processes import Context, begin_beside

MOST_THREADS = 12  # that read in one process: 16 read a tenth to a quarter less (docs/results/performance.md)
LEAST = 10_000  # photos to be read: fewer do not earn back the third of a second of a core that a reader takes to start
MOST = 200_000  # samples of the data: each reader holds their listing
_UP = b"up"


@dataclass(frozen=True)
class ReaderOrder:
    """What a reader is to read: the data of `text`, if their fingerprint is this, at most `chunk` photos at once."""

    text: str
    fingerprint: str
    wanted: Wanted
    chunk: int
    typed: bool  # whether errors name settings as the command line does


@dataclass(frozen=True)
class ReaderProcess:
    """One process, the line to it, and the sheet that it fills."""

    process: Any
    line: Connection
    sheet: PhotoSheet

    def fill(self, positions: Sequence[int], sheet: PhotoSheet) -> None:
        """Have the samples at these positions of its data read; OSError or EOFError where it has ended."""
        self.line.send(positions)
        facts: PhotoFacts = self.line.recv()
        for array, shared in zip(sheet.arrays(), self.sheet.arrays()):
            array[:] = shared[: len(positions)]
        sheet.facts = facts

    def close(self) -> None:
        """End it. The line is closed when no thread waits for it any more."""
        self.process.kill()
        self.process.join()


class ReaderProcesses:
    """The readers of `origin`, at most so many: those that are free, and those that are not up yet."""

    def __init__(
        self, origin: DataOrigin | None = None, wanted: Wanted | None = None, chunk: int = 0, most: int = 0
    ) -> None:
        self.origin = origin
        self.all = [] if origin is None or wanted is None else list(_started(origin, wanted, chunk, most))
        self._starting, self._free, self._lock = list(self.all), deque[ReaderProcess](), Lock()

    def threads(self, wanted: int) -> int:
        """How many threads are worth while of so many wanted: each has a reader, or they are bounded."""
        return wanted if self.all else min(wanted, MOST_THREADS)

    def fill(self, positions: Sequence[int], sheet: PhotoSheet) -> bool:
        """Have samples, at most a chunk, read by a reader that is free; whether there was one. One that has ended is not asked
        again."""
        reader = self._take()
        if reader is None or self.origin is None:
            return False
        try:
            reader.fill(self.origin.positions(positions), sheet)
        except (OSError, EOFError):
            return False
        self._free.append(reader)
        return True

    def _take(self) -> ReaderProcess | None:
        with self._lock:
            for reader in [reader for reader in self._starting if reader.line.poll(0)]:
                self._starting.remove(reader)
                with suppress(OSError, EOFError):  # it has ended: it found other data, or could not be started
                    reader.line.recv_bytes()
                    self._free.append(reader)
            return self._free.popleft() if self._free else None

    def close(self) -> None:
        """End them all."""
        for reader in self.all:
            reader.close()


def readers_for(data: Dataset, wanted: Wanted, threads: int, count: int) -> ReaderProcesses:
    """As many readers as threads, where that pays for so many photos of these data; else none."""
    origin = data.elsewhere
    pays = threads > MOST_THREADS and count >= LEAST and data.read_together is None
    possible = hasattr(os, "memfd_create") and not current_process().daemon
    if origin is None or not pays or not possible or origin.count > MOST:
        return ReaderProcesses()
    return ReaderProcesses(origin, wanted, data.chunk, threads)


def _started(origin: DataOrigin, wanted: Wanted, chunk: int, most: int) -> Iterator[ReaderProcess]:
    context, order = Context(), ReaderOrder(origin.text, origin.fingerprint, wanted, chunk, is_command())
    with suppress(OSError):  # no more processes, or no more memory: those that there are will do
        for _ in range(most):
            memory = os.memfd_create("snellen reader")
            try:
                os.truncate(memory, bytes_of(wanted, chunk))
                sheet = _shared(memory, wanted, chunk)
                here, there = context.Pipe()
                process = context.Process(target=_serve, args=(there, DupFd(memory), order), daemon=True)
                process.start()
            finally:
                os.close(memory)
            there.close()
            yield ReaderProcess(process, here, sheet)


def _shared(memory: int, wanted: Wanted, chunk: int) -> PhotoSheet:
    return sheet_in(mmap.mmap(memory, bytes_of(wanted, chunk)), wanted, chunk)


def _serve(line: Connection, memory: Any, order: ReaderOrder) -> None:
    """The life of a reader. It says nothing of what goes wrong: its parent then reads for itself, and says it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its readers
    begin_beside(order.typed, ())
    with suppress(Exception):
        sheet = _shared(memory.detach(), order.wanted, order.chunk)
        data = load_data(order.text)
        if data.fingerprint != order.fingerprint:
            return
        line.send_bytes(_UP)
        while True:
            positions = line.recv()
            part = sheet.first(len(positions))
            fill(data, positions, part)
            line.send(part.facts)
