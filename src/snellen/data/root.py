"""The folder below which the files of a listing must lie."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from snellen.data.names import storable
from snellen.errors import UserError

Stamp = tuple[int, int]


class Root:
    """A folder; `find` gives the files below it, and refuses paths that leave it, also through links.

    `naming` is how a caller names another folder.
    """

    def __init__(self, folder: Path | str, naming: str = "?root=DIR") -> None:
        self.folder, self.naming = Path(folder), naming
        try:
            self.real = os.path.realpath(self.folder)
        except (OSError, ValueError):
            raise UserError(f"'{storable(str(folder))[:100]}' is not the name of a folder") from None
        self._inside = self.real.rstrip(os.sep) + os.sep
        self._folders: dict[str, str] = {}

    def find(self, path: str, where: str) -> Path:
        """The file that a listing names; `where` (file and line) begins the error."""
        try:
            full = self._real(path)
        except (ValueError, OSError):  # a NUL byte, a surrogate that no name has
            raise UserError(f"{where}: {storable(path)[:60]!r} is not a path") from None
        if full != self.real and not full.startswith(self._inside):
            raise UserError(
                f"{where}: path '{storable(path)[:200]}' leaves {self.folder}; add {self.naming} to name the folder "
                "it may be in"
            )
        return Path(full)

    def _real(self, path: str) -> str:
        """The path with links followed; the folder of many files is followed once."""
        folder, name = os.path.split(os.path.join(self.real, path))
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        full = os.path.join(self._folders[folder], name)
        return os.path.realpath(full) if name in ("", ".", "..") or _is_link(full) else full


def stamp(path: Path | None) -> Stamp:
    """Size in bytes and time of change (ns) of a file, zeros where there is none: what fingerprints know of it."""
    try:
        facts = os.stat(path) if path is not None else None
    except (OSError, ValueError):
        facts = None
    return (0, 0) if facts is None else (facts.st_size, facts.st_mtime_ns)


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:  # not there, or a name too long: told when it is read
        return False
