"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from pathlib import Path

from snellen.errors import UserError

_ADVICE = {
    errno.ENOSPC: "free some space and run the same command again; it resumes",
    errno.EDQUOT: "free some space and run the same command again; it resumes",
    errno.EROFS: "choose another --out",
    errno.EACCES: "choose another --out or change its permissions",
    errno.EPERM: "choose another --out or change its permissions",
}


def write_atomic(path: Path, content: bytes | memoryview) -> None:
    """Write a file under another name, then give it its own; a failure leaves nothing behind."""
    half = path.with_name(f"{path.name}.{socket.gethostname()}-{os.getpid()}.part")  # several machines may write here
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content)
        os.replace(half, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # a folder that cannot be written to has nothing to clean up
            half.unlink(missing_ok=True)
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> UserError:
    """The error for a failure to write: the file, the reason and the next step."""
    advice = _ADVICE.get(error.errno or 0, "fix that and run the same command again; it resumes")
    return UserError(f"cannot write {path}: {(error.strerror or str(error)).lower()}; {advice}")
