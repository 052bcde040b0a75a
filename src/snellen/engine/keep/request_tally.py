"""How many requests a run folder has made to a web service, over all its commands and on all its machines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.atomic import cannot_write, open_to_append
from snellen.hashing import key_of
from snellen.models.remote.turns import TallyInMemory

if TYPE_CHECKING:
    from snellen.models.model import Model
    from snellen.models.remote.fleet import Fleet

_MARK = b"."


class RequestTally:
    """A file with a byte for each request, written before it is sent: none is lost in a kill, whatever else writes to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open_to_append(path)

    def total(self) -> int:
        return os.fstat(self._file).st_size

    def add(self, requests: int) -> None:
        try:
            os.write(self._file, _MARK * requests)
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def close(self) -> None:
        os.close(self._file)


def tally_file(folder: Path, url: str) -> Path:
    """Where a run folder counts the requests to a URL."""
    return folder / "requests" / "sent" / key_of(url)


def requests_made(folder: Path, url: str) -> int:
    """How many requests to a URL a run folder has counted."""
    try:
        return os.stat(tally_file(folder, url)).st_size
    except OSError:
        return 0


@contextmanager
def counting_requests(models: Iterable[Model], folder: Path) -> Iterator[None]:
    """Count what is sent to the services behind some models within the body in a run folder, and what was sent before it, such as
    the probe images. Their budgets are held against all that the folder has counted."""
    fleets = {id(fleet): fleet for model in models for fleet in model.fleets}
    with ExitStack() as stack:
        for fleet in fleets.values():
            stack.enter_context(_counting(fleet, folder))
        yield


@contextmanager
def _counting(fleet: Fleet, folder: Path) -> Iterator[None]:
    tally, before = RequestTally(tally_file(folder, fleet.address.url)), fleet.turns.tally
    tally.add(before.total())
    fleet.turns.tally = tally
    try:
        yield
    finally:
        fleet.turns.tally = TallyInMemory()
        tally.close()
