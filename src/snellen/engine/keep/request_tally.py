"""How many requests a run folder has made to a web service, over all its commands and on all its machines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.atomic import cannot_write, open_to_append
from snellen.files import GIB, read_bytes
from snellen.hashing import key_of
from snellen.models.remote.token_use import TokenUse
from snellen.models.remote.turns import TallyInMemory

if TYPE_CHECKING:
    from snellen.models.model import Model
    from snellen.models.remote.fleet import Fleet

_MARK = b"."


class RequestTally:
    """A file with a byte for each request, written before it is sent: none is lost in a kill, whatever else writes to it.
    Beside it lie the tokens of answers, three numbers for each, where a service states them."""

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

    def tokens(self) -> TokenUse:
        return _tokens_in(_token_file(self.path))

    def add_tokens(self, use: TokenUse) -> None:
        path = _token_file(self.path)
        file = open_to_append(path)
        try:
            os.write(file, np.array([use.answers, use.input, use.output], "<u8").tobytes())
        except OSError as error:
            raise cannot_write(path, error) from None
        finally:
            os.close(file)

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


def tokens_used(folder: Path, url: str) -> TokenUse:
    """The tokens that the answers of a URL have stated to a run folder."""
    return _tokens_in(_token_file(tally_file(folder, url)))


def _token_file(tally: Path) -> Path:
    return tally.with_name(f"{tally.name}.tokens")


def _tokens_in(file: Path) -> TokenUse:
    """The sums of a file of tokens; what is cut off at its end is left out, and no file is no tokens."""
    if not file.exists():
        return TokenUse()
    content = read_bytes(file, "count of tokens", GIB)
    rows = np.frombuffer(content[: len(content) // 24 * 24], "<u8").reshape(-1, 3)
    return TokenUse(*(int(column) for column in rows.sum(axis=0)))


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
    if (use := before.tokens()).answers:
        tally.add_tokens(use)
    fleet.turns.tally = tally
    try:
        yield
    finally:
        fleet.turns.tally = TallyInMemory()
        tally.close()
