"""The files below a folder, by their endings: links to folders are not followed, so that no circle can hold a reader up."""

from __future__ import annotations

import errno
import os
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NoReturn

from snellen.errors import UserError
from snellen.files.remote.remote_path import RemotePath


def files_below(top: Path, endings: Container[str]) -> list[Path]:
    """Files of any sort with one of the endings (in lower case), sorted; hidden ones and hidden folders are left out."""
    return sorted(_walk_remote(top, endings) if isinstance(top, RemotePath) else _walk(top, endings))


def everything_below(top: Path) -> list[Path]:
    """Every file and folder below one, hidden ones too, in no order; at an address files alone. Links are not followed."""
    if isinstance(top, RemotePath):
        from snellen.files.remote.facts import remote_files, remote_tree

        return [path for path, _ in remote_files(top, remote_tree(top))]
    return [Path(place) / name for place, folders, names in os.walk(top) for name in (*folders, *names)]


def folders_in(top: Path) -> list[str]:
    """The names of the folders in a folder, sorted; hidden ones are left out."""
    if isinstance(top, RemotePath):
        from snellen.files.remote.facts import remote_tree

        return sorted(name for name in remote_tree(top).folders if not name.startswith("."))
    try:
        names = os.listdir(top)
    except OSError as error:
        _refuse(error)
    return sorted(name for name in names if not name.startswith(".") and os.path.isdir(top / name))


def files_in(top: Path) -> list[str]:
    """The names of the files in a folder, sorted; folders are left out."""
    if isinstance(top, RemotePath):
        from snellen.files.remote.facts import remote_tree

        return sorted(remote_tree(top).files)
    try:
        return sorted(name for name in os.listdir(top) if not os.path.isdir(top / name))
    except OSError as error:
        _refuse(error)


def size_and_time(path: Path) -> tuple[int, int]:
    """What changes when a file is written again: its size in bytes and its time in nanoseconds; zeros where there is none.

    For an address the second is a number made of what its server says of the content: its ETag, or its time.
    """
    if isinstance(path, RemotePath):
        from snellen.files.remote.facts import facts_at, mark_number

        return mark_number(facts_at(path))
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # a link to nowhere, or in a circle
        return (0, 0)
    return (facts.st_size, facts.st_mtime_ns)


def _walk(top: Path, endings: Container[str]) -> Iterator[Path]:
    """Depth does not matter: folders wait in a list, not on the stack."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listing = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            _refuse(error)
        for entry in listing:
            if _is_folder(entry):
                if not entry.is_symlink():
                    waiting.append(folder / entry.name)
            elif os.path.splitext(entry.name)[1].lower() in endings:
                yield folder / entry.name


def _walk_remote(top: RemotePath, endings: Container[str]) -> Iterator[Path]:
    from snellen.files.remote.facts import remote_files, remote_tree

    for path, _ in remote_files(top, remote_tree(top)):
        hidden = any(part.startswith(".") for part in path.parts[len(top.parts) :])
        if not hidden and path.suffix.lower() in endings:
            yield path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle
        return False


def _refuse(error: OSError) -> NoReturn:
    reason = (error.strerror or type(error).__name__).lower()
    advice = "leave it out" if error.errno == errno.ENAMETOOLONG else "change its permissions or leave it out"
    raise UserError(f"folder '{_short(str(error.filename))}' cannot be read: {reason}; {advice}") from None


def _short(name: str) -> str:
    return name if len(name) <= 200 else f"{name[:80]}…{name[-80:]}"
