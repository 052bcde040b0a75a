"""The journal of what web services have answered and no table holds yet, so that a kill pays for no answer twice.

A line is the JSON list [key of the request, answer, checksum]. The answer's bytes stand as the characters of the same numbers.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from snellen.atomic import cannot_write, open_to_append
from snellen.errors import UserError
from snellen.files import GIB, MIB, decode_json, open_file
from snellen.hashing import checksum

if TYPE_CHECKING:
    from snellen.models.model import Model

LONGEST = 512 * MIB  # bytes of a line; an answer of the most bytes has fewer, however they are escaped
MOST = GIB  # bytes of a journal; one that has more begins again


class AnswerJournal:
    """The journal in a file, which is made where it is missing. Of it only places stay in memory, not answers.

    Answers with the same key are given out in the order in which they came, each once: what was asked twice was answered twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._places: dict[str, deque[tuple[int, int]]] = {}
        self._file = open_to_append(path)
        for key, place in self._whole_lines():
            self._places.setdefault(key, deque()).append(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def __len__(self) -> int:
        """How many answers of before are left to give out."""
        return sum(map(len, self._places.values()))

    def take(self, key: str) -> bytes | None:
        """The next answer of before to a request; None where the service is to be asked."""
        with self._lock:
            places = self._places.get(key)
            place = places.popleft() if places else None
        entry = None if place is None else _entry(os.pread(self._file, place[1], place[0]))
        return None if entry is None else entry[1].encode("latin-1")

    def add(self, key: str, answer: bytes) -> None:
        """Keep an answer: it is in the file when this returns. Where the file has become too large, what was in it may have to be
        asked for again after a kill."""
        text = answer.decode("latin-1")
        line = json.dumps([key, text, checksum(f"{key} {text}".encode())]).encode() + b"\n"
        try:
            with self._lock:
                if os.fstat(self._file).st_size > MOST:
                    os.ftruncate(self._file, 0)
                    self._places.clear()
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def _whole_lines(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Key and place of each answer that is whole. One that was cut off or damaged is asked for again, and a line that was cut
        off is ended, so that the next one stands alone."""
        start, line = 0, b"\n"
        with open_file(self.path, "journal of answers") as file:
            for line in iter(lambda: file.readline(LONGEST), b""):
                if (entry := _entry(line)) is not None:
                    yield entry[0], (start, len(line))
                start += len(line)
        if not line.endswith(b"\n"):
            os.write(self._file, b"\n")


def _entry(line: bytes) -> tuple[str, str] | None:
    """Key and answer of a line that fits its checksum."""
    try:
        entry: tuple[str, str, str] = decode_json(line, tuple[str, str, str], "a journal")
    except UserError:
        return None
    key, text, expected = entry
    return (key, text) if line.endswith(b"\n") and checksum(f"{key} {text}".encode()) == expected else None


def shard_requests(folder: Path, on: str, shard: int) -> Path:
    """Where a run folder keeps what services have answered about a shard, until it is written."""
    return folder / "requests" / on / f"{shard:06d}.jsonl"


def cell_requests(folder: Path, key: str) -> Path:
    """Where it keeps what a service has answered in trials or a search, until they end."""
    return folder / "requests" / key / "answers.jsonl"


def answers_kept(folder: Path) -> int:
    """How many answers wait in the journals of a run folder, whole or not."""
    lines = 0
    for path in (folder / "requests").glob("*/*.jsonl"):
        with open_file(path) as file:
            lines += sum(1 for _ in file)
    return lines


@contextmanager
def journal_of(models: Iterable[Model], path: Path) -> Iterator[None]:
    """Keep what the services behind some models answer within the body, and answer from there what a stopped command was told."""
    fleets = [fleet for model in models for fleet in model.fleets]
    if not fleets:
        yield
        return
    with AnswerJournal(path) as journal:
        for fleet in fleets:
            fleet.journal = journal
        try:
            yield
        finally:
            for fleet in fleets:
                fleet.journal = None
