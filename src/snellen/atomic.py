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
from pathlib import Path
from typing import Any

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


def encode_json(value: Any) -> bytes:
    """A value as JSON that any reader takes: numbers that are none become null, bytes that are no UTF-8 their escapes."""
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\\\u{ord(match[0]):04x}", text).encode() + b"\n"


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


def cannot_write(path: Path, error: OSError) -> UserError:
    """The error for a failure to write: the file, the reason and the next step."""
    advice = _ADVICE.get(error.errno or 0, "fix that and run the same command again; it resumes")
    return UserError(f"cannot write {path}: {(error.strerror or str(error)).lower()}; {advice}")
