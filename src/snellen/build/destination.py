"""Where an export goes: a folder that is there whole or not at all.

Files are first written below `.part` inside it, where no reader looks; at the end they are moved up, `phantom.json` last.
So a folder with a `phantom.json` is complete, and one with a `.part` is ours and may be continued; the lock of the process
that writes lies in there too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.atomic import cannot_write, check_place, write_atomic
from snellen.errors import UserError
from snellen.files import read_json
from snellen.lock import LOCK, writer_lock

FACTS = "phantom.json"
PART = ".part"


@dataclass(frozen=True)
class Destination:
    """The folder `out` of the export that `facts` describe; they end up in its phantom.json, or another file's `name`.

    `whole` says what such a folder is, and `identity` which two of the facts tell one from another.
    """

    out: Path
    facts: dict[str, Any]
    name: str = FACTS
    whole: str = "export of the phantom world"
    identity: tuple[str, str] = ("format", "world")

    @property
    def part(self) -> Path:
        """Where files are while the export is not complete."""
        return self.out / PART

    @contextmanager
    def writing(self) -> Iterator[bool]:
        """The folder, ready to be written by this process alone; False where it holds this very export already."""
        if not self._is_open():
            yield False
            return
        new = not self.part.exists()
        self._make_part()
        with writer_lock(self.part):
            still_open = self._is_open()  # another process may have finished since
            if still_open:
                self._begin()
            elif new:
                self._remove_part()
            yield still_open

    def _is_open(self) -> bool:
        """Whether the export is not complete; a folder that holds something else is refused."""
        check_place(self.out)
        try:
            names = sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []
        except OSError as error:
            raise cannot_write(self.out, error) from None
        if self.name in names:
            self._same(self.out / self.name, "choose another --out")
            return False
        if names and PART not in names:
            raise UserError(f"--out '{self.out}' holds '{names[0]}' and is no {self.whole}; choose another --out")
        if os.path.lexists(self.part / self.name):  # else it was stopped before its first image
            self._same(self.part / self.name, f"remove {self.part} or choose another --out")
        return True

    def _begin(self) -> None:
        """Take up what was written before, and state what will be."""
        try:
            if (self.part / self.name).exists():
                for path in sorted(self.out.iterdir()):  # moved up just before it was stopped
                    if path.name != PART and not (self.part / path.name).exists():
                        os.replace(path, self.part / path.name)
            for half in list(self.part.rglob("*.part")):  # being written when it was killed; see write_atomic
                half.unlink()
        except OSError as error:
            raise cannot_write(self.out, error) from None
        write_atomic(self.part / self.name, encode_json(self.facts, indent=1))

    def _make_part(self) -> None:
        try:
            self.part.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.out, error) from None

    def _remove_part(self) -> None:
        (self.part / LOCK).unlink()
        self.part.rmdir()

    def has(self, name: str) -> bool:
        """Whether a file was written by an earlier run; what is there is whole, and the same bytes as now."""
        return (self.part / name).exists()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, named by its path in the folder."""
        write_atomic(self.part / name, content)

    def finish(self) -> None:
        """Move everything to its place."""
        try:
            for name in sorted(path.name for path in self.part.iterdir() if path.name not in (self.name, LOCK)):
                os.replace(self.part / name, self.out / name)
            os.replace(self.part / self.name, self.out / self.name)
            self._remove_part()
        except OSError as error:
            raise cannot_write(self.out, error) from None

    def _same(self, file: Path, advice: str) -> None:
        """Refuse a folder whose facts are not these."""
        try:
            facts: dict[str, Any] = read_json(file, dict[str, Any], self.name)
            description = " of ".join(str(facts[name])[:80] for name in self.identity)
        except (UserError, KeyError):
            raise UserError(f"{file} is not the {self.name} of an export; {advice}") from None
        if facts != self.facts:
            names = dict.fromkeys((*facts, *self.facts))
            differing = next(name for name in names if facts.get(name, names) != self.facts.get(name, names))
            raise UserError(
                f"{self.out} holds another export, {description} ({differing}: {repr(facts.get(differing))[:40]}, not "
                f"{repr(self.facts.get(differing))[:40]}); {advice}"
            )


def encode_json(value: Any, indent: int | None = None) -> bytes:
    """JSON in UTF-8, the same bytes for the same value."""
    separators = (",", ":") if indent is None else None
    return (json.dumps(value, indent=indent, separators=separators, ensure_ascii=False) + "\n").encode()
