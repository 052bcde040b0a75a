"""One writer per run folder."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snellen.atomic import cannot_write
from snellen.errors import UserError


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold the run folder for writing; the lock ends with the process, however it ends."""
    path = folder / "run.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise UserError(f"{folder} is being written by {holder}; wait for it or choose another --out") from None
        file.truncate(0)
        try:
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
        except OSError as error:
            raise cannot_write(path, error) from None
        yield
