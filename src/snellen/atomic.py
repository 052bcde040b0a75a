"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from snellen.errors import CONTROL, UserError, option

_ADVICE = {
    errno.ENOSPC: "free some space and run the same command again; it resumes",
    errno.EDQUOT: "free some space and run the same command again; it resumes",
    errno.EROFS: "choose another {out}",
    errno.ENAMETOOLONG: "choose another {out}",
    errno.ENOTDIR: "choose another {out}",
    errno.EEXIST: "choose another {out}",
    errno.EISDIR: "choose another {out}",
    errno.ELOOP: "choose another {out}",
    errno.EACCES: "choose another {out} or change its permissions",
    errno.EPERM: "choose another {out} or change its permissions",
}
DISK_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # which nothing but a disk gives


def write_atomic(path: Path, content: bytes | memoryview) -> None:
    """Write a file under another name, then give it its own; a failure leaves nothing behind."""
    half = path.parent / f"{path.name}.{socket.gethostname()}-{os.getpid()}.part"  # several machines may write here
    try:
        _check_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content)
        os.replace(half, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # a folder that cannot be written to has nothing to clean up
            half.unlink(missing_ok=True)
        raise cannot_write(path, error) from None


def open_to_append(path: Path) -> int:
    """The descriptor of a file that several processes read and add to, made where it is missing, with its folder.

    A link, a pipe or a device in its place is refused: it would keep nothing, and a full pipe would wait for ever.
    """
    make_folder(path.parent)
    try:
        _check_replaceable(path)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file to be written bit by bit, which gets its name when it is complete; a failure leaves nothing behind."""
    half = path.parent / f"{path.name}.{socket.gethostname()}-{os.getpid()}.part"
    try:
        _check_replaceable(path)
        make_folder(path.parent)
        with open(half, "wb") as file:
            yield file
        os.replace(half, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


def _check_replaceable(path: Path) -> None:
    """Refuse to put a file in the place of a folder, or of a device, which a privileged user could really replace."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # there is nothing yet, or writing will say what is wrong
    if not stat.S_ISREG(mode):
        sort = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise UserError(f"cannot write {path}: it is {sort}; choose the name of a file")


def encode_json(value: Any) -> bytes:
    """A value as JSON that any reader takes: numbers that are none become null, bytes that are no UTF-8 their escapes.

    What would act on a terminal is written as JSON's own escapes.
    """
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False)
    text = re.sub("[\ud800-\udfff]", lambda match: f"\\\\u{ord(match[0]):04x}", text)
    return CONTROL.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text).encode() + b"\n"


def encode_yaml(value: Any) -> str:
    """Plain values as YAML, in their order; where letters would act on a terminal, or be read as others, all but ASCII are
    escapes."""
    import yaml

    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    if CONTROL.search(text.replace("\n", "")) or yaml.safe_load(text) != value:  # rare line breaks are read as spaces
        text = str(yaml.safe_dump(value, sort_keys=False))
    return text


def remove(path: Path) -> None:
    """Remove a file, or the folder that stands in its place."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def cannot_write(path: Path | str, error: OSError) -> UserError:
    """The error for a failure to write: the file, the reason and the next step."""
    advice = _ADVICE.get(error.errno or 0, "fix that and run the same command again; it resumes").format(
        out=option("out")
    )
    return UserError(f"cannot write {str(path)[:200]}: {(error.strerror or str(error)).lower()}; {advice}")


def check_place(folder: Path) -> None:
    """Refuse a folder that cannot be made, because a file or a device stands in its way, before anything is computed."""
    for place in (folder, *folder.parents):
        try:
            facts = os.stat(place)
        except (FileNotFoundError, NotADirectoryError):
            if os.path.islink(place):
                raise UserError(f"'{place}' is a link to nothing; choose another {option('out')}") from None
            continue
        except ValueError as error:  # a NUL byte
            raise UserError(
                f"'{folder}' is not the name of a folder: {error}; choose another {option('out')}"
            ) from None
        except OSError as error:
            raise cannot_write(folder, error) from None
        if stat.S_ISDIR(facts.st_mode):
            return
        sort = "file" if stat.S_ISREG(facts.st_mode) else "device or pipe"
        where = f"'{folder}' is a {sort}" if place == folder else f"'{folder}' lies below the {sort} '{place}'"
        raise UserError(f"{where}; choose another {option('out')}")
