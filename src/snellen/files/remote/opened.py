"""Which tables and archives this process has opened at addresses, for what a run keeps of them."""

from __future__ import annotations

from typing import Any

from snellen.files.remote.remote_path import RemoteFacts, RemotePath

MOST = 1000
_opened: dict[str, dict[str, Any]] = {}


def note_opened(path: RemotePath, facts: RemoteFacts, sha256: str) -> None:
    """Remember a file with its size, its mark and, where it is small or was read whole before, its sha256."""
    known, own = _opened.get(str(path)), {"size": facts.size, "mark": facts.mark}
    if known is not None:
        same = all(known[name] == value for name, value in own.items())
        _opened[str(path)] = own | {"sha256": sha256 or (known["sha256"] if same else "")}
    elif len(_opened) < MOST:
        _opened[str(path)] = own | {"sha256": sha256}


def note_digest(path: RemotePath, sha256: str) -> None:
    """The digest of a file that was read whole."""
    if str(path) in _opened:
        _opened[str(path)]["sha256"] = sha256


def opened_files() -> dict[str, dict[str, Any]]:
    """Those files by their addresses."""
    return dict(sorted(_opened.items()))
