"""A mutant: one line of one file with one small fault in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """The characters `start` to `end` of a line (from 1) of a file, replaced by `text`; `file` is relative to the repository.

    `statement` is the line on which the statement with the fault begins, `scope` the function around it ("" for what runs at
    import: constants, defaults, fields).
    """

    file: str
    line: int
    start: int
    end: int
    text: str
    operator: str
    statement: int
    scope: str

    @property
    def room(self) -> str:
        """The part of the package that it is in, such as `measure` or `engine/requests`."""
        parts = self.file.split("/")[2:]
        return "/".join(parts[:2]) if parts[0] == "engine" else parts[0]

    @property
    def module(self) -> str:
        """Its module's name, such as `snellen.measure.edges`."""
        return self.file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def lines(self, root: Path) -> tuple[str, str]:
        """Its line before and after."""
        before = (root / self.file).read_text(encoding="utf-8").split("\n")[self.line - 1]
        return before, before[: self.start] + self.text + before[self.end :]

    def source(self, root: Path) -> str:
        """The whole file with the fault in it."""
        lines = (root / self.file).read_text(encoding="utf-8").split("\n")
        lines[self.line - 1] = self.lines(root)[1]
        return "\n".join(lines)
