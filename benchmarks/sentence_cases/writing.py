"""Where reports are written: every sentence in the source, and every function that decides what one may claim."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "snellen"
WRITERS = (
    *("report", "checks", "exam/notices.py", "cli/printing.py"),
    *("check/changes.py", "check/deciding.py", "check/evidence.py"),
    *("audits/trust.py", "audits/model_differences.py", "audits/interference.py"),
)
NO_WRITERS = ("_charts.py", "charts.py", "sweep_result.py", "render/__init__.py")  # axes, and errors about stored files
DECIDERS = ("report", "check", "checks", "cli/printing.py", "audits")
FEWEST_WORDS = 4  # below which a text names something
EVIDENCE = {
    "low",
    "high",
    "p",
    "p_corrected",
    "p_images",
    "null95",
    "mark",
    "flagged",
    "state",
    "excess_low",
    "excess_high",
}
LIMITS = {"SURE", "ALPHA"}
TESTS = {"apart", "clearly_better", "corrected", "state_of"}


@dataclass(frozen=True)
class Sentence:
    """A text of the source: the file and function it stands in, and its words, `{}` where values are put in."""

    file: str
    function: str
    text: str


def files_of(rooms: tuple[str, ...]) -> list[Path]:
    """The files of some rooms, in order."""
    places = [SOURCE / room for room in rooms]
    every = [file for place in places for file in ([place] if place.suffix else sorted(place.rglob("*.py")))]
    return [file for file in every if not str(file).endswith(NO_WRITERS)]


def sentences(rooms: tuple[str, ...] = WRITERS) -> list[Sentence]:
    """Every text of four words or more that is no docstring."""
    return [
        Sentence(file.relative_to(SOURCE).as_posix(), function, text)
        for file in files_of(rooms)
        for function, text in _texts(ast.parse(file.read_text()), "")
    ]


def _texts(node: ast.AST, where: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        text = _template(child)
        if text is not None and _words(text) >= FEWEST_WORDS:
            yield where, text
        if isinstance(child, ast.JoinedStr):
            for part in child.values:
                if isinstance(part, ast.FormattedValue):
                    yield from _texts(part, where)
        elif text is None:
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            yield from _texts(child, ".".join(filter(None, (where, child.name))) if named else where)  # type: ignore[attr-defined]


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _words(text: str) -> int:
    return sum(any(letter.isalpha() for letter in word) for word in text.split())


def deciders(rooms: tuple[str, ...] = DECIDERS) -> set[tuple[str, str]]:
    """The functions (file, name) that hold an interval's end, a p-value or a mark against something: they decide claims."""
    return {
        (file.relative_to(SOURCE).as_posix(), function.name)
        for file in files_of(rooms)
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.FunctionDef) and _decides(function)
    }


def _decides(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _name(node.func) in TESTS:
            return True
        if isinstance(node, ast.Compare) and not all(isinstance(sign, ast.Is | ast.IsNot) for sign in node.ops):
            names = {_name(part) for side in (node.left, *node.comparators) for part in ast.walk(side)}
            if names & LIMITS or names & EVIDENCE:
                return True
    return False


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
