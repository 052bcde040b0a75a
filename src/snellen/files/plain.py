"""Files as bytes and text: regular ones only, so that nothing can hold a reader up, and never more than a bound."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.remote.remote_path import RemotePath, remote_path

if TYPE_CHECKING:
    import numpy as np

LOCAL = "file://"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_SORTS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_REASONS = {
    errno.ELOOP: "its links go round in a circle",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EACCES: "permission denied; change its permissions",
    errno.EISDIR: "it is a folder",
}


class NotRead(UserError):
    """A file that was not opened or not read; `reason` says why without its name, for lists that name it already."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


def open_file(path: Path | str, kind: str = "file") -> io.BufferedReader:
    """A regular file, open for reading; a pipe, a socket, a device or a folder is refused before it is opened.

    One at an address is read in parts as they are asked for, and has no descriptor (`open_whole`); `length_of` is its size.

    >>> from snellen.files import open_file
    >>> open_file(".", "photo")
    Traceback (most recent call last):
        ...
    snellen.files.plain.NotRead: '.' is a folder; expected a photo
    """
    if (remote := _remote(path)) is not None:
        from snellen.files.remote.remote_file import open_remote

        return open_remote(remote, kind)
    try:
        _check_regular(os.stat(path), path, kind)
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))  # it may have become a pipe
    except (OSError, ValueError) as error:
        raise unreadable(path, kind, error) from None
    try:
        _check_regular(os.fstat(number), path, kind)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def open_whole(path: Path | str, kind: str = "file") -> io.BufferedReader:
    """The same with a descriptor, for readers that map a file: one at an address is copied to this machine first.

    >>> from pathlib import Path
    >>> from snellen.files import open_whole
    >>> Path("note.txt").write_text("hello") > 0
    True
    >>> with open_whole("note.txt") as file:
    ...     file.fileno() > 2
    True
    """
    if (remote := _remote(path)) is not None:
        from snellen.files.remote.remote_file import whole_copy

        return whole_copy(remote, kind)
    return open_file(path, kind)


@contextmanager
def local_name(path: Path | str, kind: str = "file") -> Iterator[Path]:
    """The file's name on this machine, for libraries that open files themselves; one at an address is copied for so long.

    >>> from pathlib import Path
    >>> from snellen.files import local_name
    >>> Path("note.txt").write_text("hello") > 0
    True
    >>> with local_name("note.txt") as path:
    ...     path.name
    'note.txt'
    """
    if (remote := _remote(path)) is not None:
        from snellen.files.remote.remote_file import named_copy

        with named_copy(remote, kind) as copy:
            yield copy
        return
    with open_file(path, kind):  # it must be a regular file
        yield Path(path)


def length_of(file: io.BufferedReader) -> int:
    """How many bytes an open file has.

    >>> from pathlib import Path
    >>> from snellen.files import length_of, open_file
    >>> Path("note.txt").write_text("hello") > 0
    True
    >>> with open_file("note.txt") as file:
    ...     length_of(file)
    5
    """
    size = getattr(file.raw, "size", None)
    return os.fstat(file.fileno()).st_size if size is None else int(size)


def read_bytes(path: Path | str, kind: str = "file", most: int = 64 * MIB) -> bytes:
    """The content of a regular file of at most `most` bytes.

    >>> from pathlib import Path
    >>> from snellen.files import read_bytes
    >>> Path("note.txt").write_text("hello") > 0
    True
    >>> read_bytes("note.txt", most=3)
    Traceback (most recent call last):
        ...
    snellen.files.plain.NotRead: file 'note.txt' is larger than 3 bytes, the most that is read
    """
    with open_file(path, kind) as file:
        try:
            content = _read_at_most(file, most + 1)
        except OSError as error:
            raise unreadable(path, kind, error) from None
    if len(content) > most:
        reason = f"larger than {format_size(most)}, the most that is read"
        raise NotRead(f"{kind} '{path}' is {reason}", f"it is {reason}")
    return content


def _read_at_most(file: io.BufferedReader, count: int) -> bytes:
    """The first bytes of a file. Python sets aside all that it is asked for, so that is what the file says it has."""
    content = file.read(min(count, length_of(file) + 1))
    while len(content) < count and (more := file.read(min(count - len(content), MIB))):  # it grew, or lies in /proc
        content += more
    return content


def read_text(path: Path | str, kind: str = "file", most: int = 16 * MIB) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; a wrong byte is named by its line.

    >>> from pathlib import Path
    >>> from snellen.files import read_text
    >>> Path("note.txt").write_text("hello", encoding="utf-8-sig") > 0
    True
    >>> read_text("note.txt")
    'hello'
    """
    content = read_bytes(path, kind, most)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(
            f"{kind} '{path}' line {line}: byte 0x{content[error.start]:02x} is not UTF-8; save it as UTF-8"
        ) from None


def map_bytes(path: Path | str, kind: str = "file") -> np.ndarray:
    """uint8 [bytes]: the content of a regular file, read where it is looked at: memory does not grow with its size."""
    import numpy as np

    with open_whole(path, kind) as file:
        if not length_of(file):
            return np.empty(0, np.uint8)  # nothing can be mapped
        with reading(path, f"a {kind}"):
            return np.memmap(file, np.uint8, "r")


def check_mapped(array: np.ndarray, source: str) -> None:
    """Refuse an array of a mapped file that has become shorter: to look at what is gone would end the process."""
    import mmap

    import numpy as np

    while isinstance(array.base, np.ndarray):
        array = array.base
    if isinstance(array.base, mmap.mmap) and array.base.size() < array.offset + array.nbytes:
        raise UserError(
            f"{source}: the file has become shorter while it was read ({array.base.size():,} bytes); leave it as it is until "
            "the command ends, and run it again"
        )


def file_size(path: Path | str, kind: str = "file") -> int:
    """The size of a regular file in bytes.

    >>> from pathlib import Path
    >>> from snellen.files import file_size
    >>> Path("note.txt").write_text("hello") > 0
    True
    >>> file_size("note.txt")
    5
    """
    with open_file(path, kind) as file:
        return length_of(file)


def expand_home(path: Path | str) -> Path:
    """The path with the home folder for a leading `~`; one of a user who does not exist stays as it is written.

    An address (`s3://…`) becomes a path that functions of `snellen.files` read; `file://` stands before one of this machine.

    >>> from snellen.files import expand_home
    >>> expand_home("file:///data/photos").as_posix(), expand_home("~").is_absolute()
    ('/data/photos', True)
    """
    remote = _remote(path)
    return Path(os.path.expanduser(str(path).removeprefix(LOCAL))) if remote is None else remote


def check_local(path: object, name: str = "") -> None:
    """Refuse an address where something is to be written; `name` is what the caller calls the place."""
    if isinstance(path, Path | str) and (remote := _remote(path)) is not None:
        begin = f"{name}: " if name else ""
        raise UserError(
            f"{begin}'{remote}' is an address, and what is written stays on this machine; name a place here, and copy it there"
        )


def place_to_write(path: Path | str) -> Path:
    """The same as `expand_home` of a place that is written to, which no address is."""
    check_local(path)
    return expand_home(path)


def place_here(path: Path | str, kind: str) -> Path:
    """A place that no address may be: a folder that is written to as well, or code."""
    if (remote := _remote(path)) is not None:
        raise UserError(f"'{remote}' is an address; {kind} must lie on this machine: copy it, and name the copy")
    return expand_home(path)


def _remote(path: Path | str) -> RemotePath | None:
    return path if isinstance(path, RemotePath) else remote_path(path) if isinstance(path, str) else None


def snellen_home() -> Path:
    """`SNELLEN_HOME`, else `snellen` in the user's cache folder (`XDG_CACHE_HOME` is respected)."""
    if home := os.environ.get("SNELLEN_HOME"):
        return expand_home(home)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return expand_home(cache) / "snellen"


def format_size(count: int) -> str:
    """Bytes as people write them: 64 MiB."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def unreadable(path: Path | str, kind: str, error: Exception) -> NotRead:
    """The error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if os.path.islink(path):
            reason = "a link to a file that is not there"
            return NotRead(f"{kind} '{path}' is {reason}", f"it is {reason}")
        return NotRead(f"no {kind} '{path}'", "there is no such file")
    if not isinstance(error, OSError):  # a NUL byte in the name
        return NotRead(f"'{str(path)[:100]}' is not the name of a file: {error}", str(error))
    reason = _REASONS.get(error.errno or 0, (error.strerror or str(error)).lower())
    return NotRead(f"{kind} '{str(path)[:200]}' cannot be read: {reason}", reason)


def _check_regular(facts: os.stat_result, path: Path | str, kind: str) -> None:
    if not stat.S_ISREG(facts.st_mode):
        sort = _SORTS.get(stat.S_IFMT(facts.st_mode), "not a file")
        article = "an" if kind[:1] in "aeio" else "a"
        expected = f"; expected {article} {kind}" if kind != "file" else ", not a file"
        raise NotRead(f"'{path}' is {sort}{expected}", f"it is {sort}")
