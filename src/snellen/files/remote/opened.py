"""Which tables and archives this process has opened at addresses, for what a run keeps of them."""

from __future__ import annotations

from typing import Any

from snellen.files.remote.remote_path import RemoteFacts, RemotePath

MOST = 1000
_opened: dict[str, dict[str, Any]] = {}


def note_opened(path: RemotePath, facts: RemoteFacts, sha256: str) -> None:
    """Remember a file with its size, its mark and, where it is small, its sha256."""
    if len(_opened) < MOST:
        _opened[str(path)] = {"size": facts.size, "mark": facts.mark, "sha256": sha256}


def opened_files() -> dict[str, dict[str, Any]]:
    """Those files by their addresses."""
    return dict(sorted(_opened.items()))
