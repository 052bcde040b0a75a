"""A run without a folder of its own: it lasts as long as the Python object."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Self

from snellen.atomic import cannot_write
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.files.plain import place_to_write


class TemporaryRun(Run):
    """A run whose folder is removed when it is no longer used, at the latest when Python ends."""

    def __init__(self) -> None:
        try:
            folder = tempfile.mkdtemp(prefix="snellen-")
        except OSError as error:
            raise cannot_write(Path(tempfile.gettempdir()), error) from None
        self._remove = weakref.finalize(self, _remove, folder, os.getpid())
        super().__init__(folder)

    def keep(self, path: Path | str) -> Self:
        """Move the folder to a path, where it stays; the run is there from now on."""
        target = place_to_write(path)
        if target.exists():
            raise UserError(f"'{target}' exists already; keep the run somewhere else")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self.path, target)
        except OSError as error:
            raise cannot_write(target, error) from None
        self._remove.detach()
        super().__init__(target)
        return self

    def remove(self) -> None:
        """Remove the folder now."""
        self._remove()


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of the run, not the run
        shutil.rmtree(folder, ignore_errors=True)
