"""One writer per folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from snellen.atomic import cannot_write
from snellen.errors import UserError, option

LOCK = "run.lock"


@contextmanager
def own_folder(folder: Path, leave: bool = True) -> Iterator[None]:
    """The folder, made where it is missing, for this process alone to write.

    One that was made here, and in which nothing was stored before an error, is gone again with the folders above it. The
    lock's file stays if `leave`: by it a run folder is known that has no run.json yet.
    """
    new = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    with writer_lock(folder):
        try:
            yield
        except BaseException:
            if new and os.listdir(folder) == [LOCK]:
                _remove_bare(new)
            raise
        finally:
            if not leave:
                (folder / LOCK).unlink(missing_ok=True)


@contextmanager
def writer_lock(folder: Path, name: str = LOCK) -> Iterator[None]:
    """Hold a folder for writing; the lock ends with the process, however it ends."""
    path = folder / name
    file = _open(path)
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read(200).strip() or "another process"
            advice = f"wait for it or choose another {option('out')}"
            raise UserError(f"{folder} is being written by {holder}; {advice}") from None
        except OSError as error:  # a file system without locks
            raise cannot_write(path, error) from None
        if not _is_at(file, path):  # its holder removed it while it ended
            raise UserError(f"{folder} was being written by another process until now; run the same command again")
        try:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
        except OSError as error:
            raise cannot_write(path, error) from None
        yield


def _open(path: Path) -> TextIO:
    """The lock's file, made where it is missing; a link, a pipe or a folder in its place is left alone."""
    try:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            advice = f"remove it or choose another {option('out')}"
            raise UserError(f"'{path}' is not a regular file, so it cannot lock; {advice}")
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        return os.fdopen(number, "r+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise cannot_write(path, error) from None


def _is_at(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except OSError:
        return False


def _remove_bare(new: list[Path]) -> None:
    """Remove the lock and the folders that were made for it, innermost first."""
    with contextlib.suppress(OSError):  # what others put there meanwhile stays
        (new[0] / LOCK).unlink()
        for place in new:
            place.rmdir()
