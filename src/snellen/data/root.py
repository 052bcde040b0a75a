"""The folder below which the files of a listing must lie."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Sequence
from pathlib import Path

from snellen.data.names import storable
from snellen.errors import CONTROL, UserError
from snellen.files import expand_home
from snellen.files.remote.remote_path import RemotePath, address_scheme, without_secrets
from snellen.files.tree import size_and_time

Stamp = tuple[int, int]


class Root:
    """A folder; `find` gives the files below it, and refuses paths that leave it, also through links.

    `naming` is how a caller names another folder.
    """

    def __init__(self, folder: Path | str, naming: str = "?root=DIR") -> None:
        self.folder, self.naming = expand_home(folder) if isinstance(folder, str) else folder, naming
        self._folders: dict[str, str] = {}
        if isinstance(self.folder, RemotePath):
            self.real = str(self.folder).rstrip("/")
            self._inside = f"{self.real}/"
            return
        try:
            self.real = os.path.realpath(self.folder)
        except (OSError, ValueError):
            raise UserError(f"'{storable(str(folder))[:100]}' is not the name of a folder") from None
        self._inside = self.real.rstrip(os.sep) + os.sep

    def find(self, path: str, where: str) -> Path:
        """The file that a listing names; `where` (file and line) begins the error."""
        if isinstance(self.folder, RemotePath):
            return self._find_remote(self.folder, path, where)
        try:
            full = self._real(path)
        except (ValueError, OSError):  # a NUL byte, a surrogate that no name has
            raise UserError(f"{where}: {storable(path)[:60]!r} is not a path") from None
        if full != self.real and not full.startswith(self._inside):
            raise self._outside(path, where)
        return Path(full)

    def _find_remote(self, folder: RemotePath, path: str, where: str) -> Path:
        """The same at an address, by its name alone; one that a listing writes out whole may be inside too."""
        inside = path.removeprefix(self._inside)
        parts = posixpath.normpath(inside).split("/")
        if address_scheme(inside) or inside.startswith("/") or parts[0] == "..":
            raise self._outside(without_secrets(path), where)
        if CONTROL.search(inside):
            raise UserError(f"{where}: {storable(path)[:60]!r} is not a path")
        return folder.joinpath(*parts)

    def _outside(self, path: str, where: str) -> UserError:
        return UserError(
            f"{where}: path '{storable(path)[:200]}' leaves {self.folder}; add {self.naming} to name the folder "
            "it may be in"
        )

    def _real(self, path: str) -> str:
        """The path with links followed; the folder of many files is followed once."""
        folder, name = os.path.split(os.path.join(self.real, path))
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        full = os.path.join(self._folders[folder], name)
        return os.path.realpath(full) if name in ("", ".", "..") or _is_link(full) else full


def stamp(path: Path | None) -> Stamp:
    """Size in bytes and time of change (ns) of a file, zeros where there is none: what fingerprints know of it."""
    return (0, 0) if path is None else size_and_time(path)


def stamps(paths: Sequence[Path | None]) -> list[Stamp]:
    """The stamps of many files; servers are asked about them side by side."""
    if remote := [path for path in paths if isinstance(path, RemotePath)]:
        from snellen.files.remote.facts import facts_of_many

        facts_of_many(remote)
    return [stamp(path) for path in paths]


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:  # not there, or a name too long: told when it is read
        return False
