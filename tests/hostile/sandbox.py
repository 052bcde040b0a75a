"""The folders around a case, and what a reader has left in them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from .mutate.payload import RAN, VARIABLE

CACHES = ("zero-shot",)  # folders of SNELLEN_HOME in which readers keep what they computed, each file named by a hash


@dataclass(frozen=True)
class Sandbox:
    """`case` holds the damaged files. What else lies below `root` no reader may change: the working folder, the home, the
    folder for temporary files, and a canary beside which code that is run leaves a mark."""

    root: Path

    @property
    def case(self) -> Path:
        return self.root / "above" / "below" / "case"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def canary(self) -> Path:
        return self.root / "canary"

    def enter(self) -> None:
        """Work here from now on."""
        for name in ("working", "home", "passing", "canary", "above/below"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        os.chdir(self.root / "working")
        os.environ |= {
            "SNELLEN_HOME": str(self.home),
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "passing"),
            "HF_HUB_OFFLINE": "1",
            VARIABLE: str(self.canary),
        }

    def begin(self, source: Path) -> None:
        """A fresh copy of some files of the corpus."""
        shutil.rmtree(self.case, ignore_errors=True)
        shutil.copytree(source, self.case, symlinks=True)

    def note(self, change: str) -> None:
        """Keep what was done to the files, for whoever finds the reader hanging."""
        self.notes.write_text(change, errors="backslashreplace")

    @property
    def notes(self) -> Path:
        return self.root.with_name("change.txt")

    def outside(self) -> set[str]:
        """Every file but those of the case and of caches."""
        below = []
        for folder, folders, files in os.walk(self.root):
            if Path(folder) == self.case.parent:
                folders[:] = [name for name in folders if name != self.case.name]
            if Path(folder) == self.home:
                folders[:] = [name for name in folders if name not in CACHES]
            below += [os.path.join(folder, name) for name in (*folders, *files)]
        return set(below)

    def inside(self) -> set[str]:
        return {
            os.path.join(folder, name) for folder, folders, files in os.walk(self.case) for name in (*folders, *files)
        }

    def has_run(self) -> bool:
        """Whether code of an input was run."""
        return (self.canary / RAN).exists()

    def clean(self, names: set[str]) -> None:
        """Remove what was left."""
        for name in sorted(names, reverse=True):
            if os.path.isdir(name) and not os.path.islink(name):
                shutil.rmtree(name, ignore_errors=True)
            elif os.path.lexists(name):
                os.unlink(name)
