"""What lies at a path: on this machine, or at an address."""

from __future__ import annotations

import os
from pathlib import Path

from snellen.files.remote.remote_path import WEB, RemotePath


def exists(path: Path) -> bool:
    """Whether there is a file or folder."""
    if isinstance(path, RemotePath):
        from snellen.files.remote.facts import remote_exists

        return remote_exists(path)
    return os.path.exists(path)


def is_there(path: Path) -> bool:
    """The same of a link that leads nowhere too."""
    return exists(path) if isinstance(path, RemotePath) else os.path.lexists(path)


def is_folder(path: Path) -> bool:
    if isinstance(path, RemotePath):
        from snellen.files.remote.facts import is_remote_folder

        return is_remote_folder(path)
    return os.path.isdir(path)


def may_be_folder(path: Path) -> bool:
    """The same, or nobody can tell: a web server has files by their names, and no folders."""
    return (isinstance(path, RemotePath) and path.scheme in WEB) or is_folder(path)


def is_file(path: Path) -> bool:
    if isinstance(path, RemotePath):
        from snellen.files.remote.facts import facts_at

        return facts_at(path) is not None
    return os.path.isfile(path)


def real_place(path: Path) -> str:
    """The path with links followed; an address has none."""
    return str(path) if isinstance(path, RemotePath) else os.path.realpath(path)


def list_below(folder: Path) -> None:
    """List an address once, so that nothing below it is asked for by itself; nothing is to be done on this machine."""
    if isinstance(folder, RemotePath):
        from snellen.files.remote.facts import remote_tree

        remote_tree(folder)


def folders_beside(folder: Path) -> list[Path]:
    """The folders in a folder, hidden ones too, where something may be looked for; none at an address."""
    if isinstance(folder, RemotePath):
        return []
    try:
        return sorted(near for near in folder.iterdir() if os.path.isdir(near))
    except OSError:
        return []
