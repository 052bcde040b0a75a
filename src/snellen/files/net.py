"""The last net of every reader: whatever a library raises on a damaged file becomes one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snellen.errors import UserError

LONGEST_REASON = 200  # characters of a library's own words


class Damaged(UserError):
    """A file on which a library failed: no schema foresaw what is wrong with it. `--debug` shows where it failed."""


@contextmanager
def reading(path: Path | str, kind: str) -> Iterator[None]:
    """Tell any failure inside as the failure to read this file as `kind` ('JSON', 'a Parquet table').

    Only calls of decoders belong inside: a defect of ours would be blamed on the file.

    >>> from snellen.files import reading
    >>> with reading("image.png", "PNG"):
    ...     raise ValueError("bad chunk")
    Traceback (most recent call last):
        ...
    snellen.files.net.Damaged: image.png cannot be read as PNG: bad chunk
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise Damaged(f"{path} cannot be read as {kind}: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """What an exception says, in one line of bounded length."""
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
