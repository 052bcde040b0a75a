"""Where an export goes: a folder that is there whole or not at all.

Files are first written below `.part` inside it, where no reader looks; at the end they are moved up, `phantom.json` last.
So a folder with a `phantom.json` is complete, and one with a `.part` is ours and may be continued; the lock of the process
that writes lies in there too. What an earlier run wrote there and the set does not own in the end, since its inputs changed
meanwhile, is removed. Where a build was refused, such as for want of images, a file in there says so: then other settings may
take its place.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snellen.atomic import cannot_write, check_place, write_atomic
from snellen.build.encode import encode_json
from snellen.errors import UserError, option
from snellen.files import read_json
from snellen.lock import LOCK, writer_lock

PART = ".part"
POOL = ".pool"  # below PART: what is kept of a stopped build, removed when the set is complete
REFUSED = "refused.txt"


@dataclass
class Destination:
    """The folder `out` of the set that `facts` describe; they end up in its file `name`, such as phantom.json.

    `whole` says what such a folder is, and `identity` which two of the facts tell one from another. `inputs` are facts that
    state what was read: while a build is stopped, that may change. `former` gives the facts by which earlier versions of snellen
    knew a complete set of the same settings and inputs.
    """

    out: Path
    facts: dict[str, Any]
    name: str
    whole: str
    identity: tuple[str, str]
    inputs: tuple[str, ...] = ()
    former: Callable[[], dict[str, Any]] | None = None
    owned: set[str] = field(default_factory=set, compare=False)

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

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Note an error that a user can fix, perhaps by other settings; the same ones still continue what was begun."""
        try:
            yield
        except UserError as error:
            with contextlib.suppress(UserError):  # a full disk may be the error
                self.write(REFUSED, f"{error}\n".encode())
            raise

    def _is_open(self) -> bool:
        """Whether the export is not complete; a folder that holds something else is refused."""
        check_place(self.out)
        try:
            names = sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []
        except OSError as error:
            raise cannot_write(self.out, error) from None
        if self.name in names:
            self._same_set(self.out / self.name, f"choose another {option('out')}")
            return False
        if names and PART not in names:
            place = option("out")
            raise UserError(f"{place} '{self.out}' holds '{names[0]}' and is no {self.whole}; choose another {place}")
        if os.path.lexists(self.part / self.name):  # else it was stopped before its first image
            try:
                advice = f"remove {self.part} or choose another {option('out')}"
                self._same(self.part / self.name, advice, without=self.inputs)
            except UserError:
                if not self._was_refused(names):
                    raise
        return True

    def _was_refused(self, names: list[str]) -> bool:
        """Whether what was begun was refused, and nothing of it is in its place yet."""
        return names == [PART] and (self.part / REFUSED).is_file()

    def _begin(self) -> None:
        """Take up what was written before, and state what will be."""
        try:
            if self._was_refused(os.listdir(self.out)) and not self._is_same(self.part / self.name):
                self._clear()
            (self.part / REFUSED).unlink(missing_ok=True)
            if (self.part / self.name).exists():
                for path in sorted(self.out.iterdir()):  # moved up just before it was stopped
                    if path.name != PART and not (self.part / path.name).exists():
                        os.replace(path, self.part / path.name)
            for half in list(self.part.rglob("*.part")):  # being written when it was killed; see write_atomic
                half.unlink()
        except OSError as error:
            raise cannot_write(self.out, error) from None
        write_atomic(self.part / self.name, encode_json(self.facts, indent=1))

    def _clear(self) -> None:
        """Remove what was begun, but for the lock."""
        for path in self.part.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _make_part(self) -> None:
        try:
            self.part.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.out, error) from None

    def _remove_part(self) -> None:
        (self.part / LOCK).unlink()
        self.part.rmdir()

    def has(self, name: str) -> bool:
        """Whether a file was written by an earlier run: then it is whole, and stays in the set."""
        there = (self.part / name).exists()
        if there:
            self.own(name)
        return there

    def own(self, *names: str) -> None:
        """Say that files belong to the set, named by their paths in the folder; others are not moved to it."""
        self.owned.update(names)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the set, named by its path in the folder."""
        self.own(name)
        write_atomic(self.part / name, content)

    def finish(self) -> None:
        """Move everything to its place."""
        try:
            self._remove_others()
            for name in sorted({path.name for path in self.part.iterdir()} - {self.name, LOCK, POOL}):
                os.replace(self.part / name, self.out / name)
            shutil.rmtree(self.part / POOL, ignore_errors=True)
            os.replace(self.part / self.name, self.out / self.name)
            self._remove_part()
        except OSError as error:
            raise cannot_write(self.out, error) from None

    def _remove_others(self) -> None:
        """Remove files that earlier runs wrote and the set does not own, and folders that are empty then."""
        owned = {*self.owned, self.name, LOCK}
        for folder, _, files in os.walk(self.part, topdown=False):
            within = Path(folder).relative_to(self.part)
            if within.parts[:1] == (POOL,):
                continue
            for file in files:
                if (within / file).as_posix() not in owned:
                    (self.part / within / file).unlink()
            if within.parts and not os.listdir(folder):
                os.rmdir(folder)

    def _is_same(self, file: Path) -> bool:
        """Whether a file holds these facts, but for what was read."""
        try:
            self._same(file, "", without=self.inputs)
        except UserError:
            return False
        return True

    def _same_set(self, file: Path, advice: str) -> None:
        """Refuse a complete set whose facts are neither these nor those of an earlier version."""
        try:
            self._same(file, advice)
        except UserError as error:
            if self.former is None or not self._is_former(self.former, file):
                raise error from None

    def _is_former(self, former: Callable[[], dict[str, Any]], file: Path) -> bool:
        with contextlib.suppress(UserError):  # an earlier version may have refused these settings
            replace(self, facts=former(), former=None)._same(file, "")
            return True
        return False

    def _same(self, file: Path, advice: str, without: tuple[str, ...] = ()) -> None:
        """Refuse a folder whose facts are not these; `without` names facts that may differ."""
        try:
            facts: dict[str, Any] = read_json(file, dict[str, Any], self.name)
            description = " of ".join(str(facts[name])[:80] for name in self.identity)
        except (UserError, KeyError):
            raise UserError(f"{file} is not the {self.name} of an export; {advice}") from None
        names = {name: None for name in (*facts, *self.facts) if name not in without}
        differing = [name for name in names if not _alike(facts.get(name, names), self.facts.get(name, names))]
        if differing:
            then, now = (repr(known.get(differing[0]))[:40] for known in (facts, self.facts))
            raise UserError(
                f"{self.out} holds another export, {description} ({differing[0]}: {then}, not {now}); {advice}"
            )


def _alike(first: Any, other: Any) -> bool:
    """Whether two facts are the same; a path may be written in several ways."""
    return bool(first == other) or (isinstance(first, str) and isinstance(other, str) and Path(first) == Path(other))
