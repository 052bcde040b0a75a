"""What a mutation raises where it does not fit a file, which another one has changed before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Unfit(Exception):
    """Another mutation is to be tried."""


@contextmanager
def fitting() -> Iterator[None]:
    """Around libraries that read what may be damaged already, or write what they may refuse to."""
    try:
        yield
    except Exception as error:
        raise Unfit from error
