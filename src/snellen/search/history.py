"""The history of a search: every tuple with its fitness, kept line by line, so that a stopped search continues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from snellen.atomic import cannot_write, write_atomic
from snellen.errors import UserError, option
from snellen.files import MIB, decode_json, read_bytes
from snellen.hashing import key_of
from snellen.search.fitness import Edits


class Evaluation(NamedTuple):
    """A tuple of edits and the fitness under it; None where it did not meet a constraint and was not shown."""

    edits: Edits
    value: float | None


class HistoryLine(msgspec.Struct):
    """One evaluation as it is stored."""

    edits: tuple[str, ...]
    value: Annotated[float, msgspec.Meta(ge=0, le=1)] | None
    checksum: str


class Head(msgspec.Struct):
    """The first line: which search this is."""

    search: str
    text: str


@dataclass
class History:
    """The evaluations of one search in their order; `path` None keeps them in memory only.

    `facts` tell one search from another (space, algorithm, length, seed, model, data): a file of another search is refused.
    """

    facts: dict[str, object]
    path: Path | None = None
    evaluations: list[Evaluation] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.path is None:
            return
        content = read_bytes(self.path, "search history", 256 * MIB) if self.path.exists() else b""
        if self._head.startswith(content):  # nothing yet: a new file, or one whose writer was stopped in its first line
            write_atomic(self.path, self._head)
        else:
            self.evaluations += self._read(self.path, content)

    def add(self, evaluation: Evaluation) -> None:
        """Keep one more evaluation."""
        self.evaluations.append(evaluation)
        if self.path is not None:
            _append(self.path, {**evaluation._asdict(), "checksum": key_of(evaluation)})

    @property
    def _head(self) -> bytes:
        return _line({"search": key_of(self.facts), "text": json.dumps(self.facts, sort_keys=True)})

    def _of_another(self, head: Head) -> UserError:
        """What is said of a file that is not of this search."""
        other = "checkpoint" if "fitness" in self.facts else option("out")
        if "fitness" in self.facts and '"fitness"' not in head.text:
            return UserError(
                f"{self.path} does not say of which model, data and constraint it is, as earlier versions wrote it; remove it or "
                f"choose another {other}"
            )
        differing = _differences(head, self.facts)
        advice = f"choose another {other}"
        if "fitness" in self.facts and {*differing} <= {"fitness", "constraint"}:
            advice += ", or where it answers the same give it a text `fingerprint`"
        names = " and ".join(differing) or "settings"
        return UserError(f"{self.path} is the history of another search: {names} differ ({head.text[:200]}); {advice}")

    def _read(self, path: Path, content: bytes) -> Iterator[Evaluation]:
        """The stored evaluations; a last line that was cut off is dropped, and the file with it cut back."""
        lines = content.split(b"\n")
        head: Head = decode_json(lines[0], Head, f"{path} line 1")
        if head.search != key_of(self.facts):
            raise self._of_another(head)
        if len(lines) == 1:
            raise UserError(
                f"{path} line 1 has no end and is not the head of this search; remove the file to search again"
            )
        if lines[-1]:  # the writer was stopped in the middle of a line
            write_atomic(path, content[: len(content) - len(lines[-1])])
        for number, line in enumerate(lines[1:-1], 2):
            yield _evaluation(line, f"{path} line {number}")


def _line(content: dict[str, object]) -> bytes:
    return json.dumps(content).encode() + b"\n"


def _append(path: Path, content: dict[str, object]) -> None:
    try:
        with path.open("ab") as file:
            file.write(_line(content))
    except OSError as error:
        raise cannot_write(path, error) from None


def _differences(head: Head, facts: dict[str, object]) -> list[str]:
    """The names of the facts that another search has otherwise, or does not have."""
    try:
        stored: dict[str, object] = decode_json(head.text.encode(), dict[str, object], "line 1")
    except UserError:
        return []
    return [name for name in facts if stored.get(name, ...) != facts[name]]


def _evaluation(line: bytes, source: str) -> Evaluation:
    """A stored evaluation; one that was damaged is refused, since all that follows depends on it."""
    try:
        entry: HistoryLine = decode_json(line, HistoryLine, source)
    except UserError as error:
        raise UserError(f"{error}; remove the file to search again") from None
    evaluation = Evaluation(entry.edits, entry.value)
    if entry.checksum != key_of(evaluation):
        raise UserError(f"{source} does not fit its checksum; remove the file to search again")
    return evaluation
