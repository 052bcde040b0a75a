"""Which mutants are made: lines drawn from each room by a seed, and one of the faults that the line can have."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from math import sqrt
from pathlib import Path

from mutation.mutant import Mutant
from mutation.operators import CRUDE, NO_KEYWORDS, Place, faults

ROOMS = ("engine/requests", "search", "audits", "measure", "explain", "concepts", "build")
WORDS = {"print", "warn", "warning", "info", "debug", "cast", "TypeVar", "NewType", "UserError", "ValueError"}
HINTS = {
    "Literal",
    "dict",
    "list",
    "tuple",
    "set",
    "frozenset",
    "type",
    "Callable",
    "Iterator",
    "Sequence",
    "Mapping",
    "Annotated",
    "Generator",
}


def of_rooms(root: Path, count: int, seed: int) -> list[Mutant]:
    """About `count` mutants, of each room in proportion to the root of the number of its lines that can have a fault."""
    by_room = {room: lines_with_faults(root, room) for room in ROOMS}
    whole = sum(sqrt(len(lines)) for lines in by_room.values())
    chosen = []
    for room, lines in by_room.items():
        draw = random.Random(f"{seed} {room}")
        in_order = draw.sample(sorted(lines), len(lines))
        valid = (mutant for place in in_order for mutant in first_that_is_python(lines[place], draw, root))
        chosen += sorted(
            islice(valid, round(count * sqrt(len(lines)) / whole)), key=lambda mutant: (mutant.file, mutant.line)
        )
    return chosen


def first_that_is_python(mutants: list[Mutant], draw: random.Random, root: Path) -> Iterator[Mutant]:
    """One of the faults of a line, if any of them is still Python."""
    in_order = sorted(draw.sample(mutants, len(mutants)), key=lambda mutant: mutant.operator in CRUDE)
    valid = (mutant for mutant in in_order if is_python(mutant.source(root)))
    yield from islice(valid, 1)


def lines_with_faults(root: Path, room: str) -> dict[tuple[str, int], list[Mutant]]:
    """The mutants of each line of a room, in the order of files and lines."""
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path in sorted((root / "src" / "snellen" / room).rglob("*.py")):
        for mutant in of_file(path, root):
            lines[mutant.file, mutant.line].append(mutant)
    return lines


def of_file(path: Path, root: Path) -> Iterator[Mutant]:
    """Every fault that a file can have."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    encoded = [line.encode() for line in lines]

    def text(place: Place) -> str:
        return encoded[place.line - 1][place.start : place.end].decode()

    for node, statement, scope in nodes(ast.parse(source)):
        for (line, start, end), new, operator in faults(node, text):
            before, after = (len(encoded[line - 1][:byte].decode()) for byte in (start, end))
            file = path.relative_to(root).as_posix()
            yield Mutant(file, line, before, after, new, operator, statement, ".".join(scope))


def is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, int, tuple[str, ...]]]:
    """Nodes that may have a fault, the line of their statement and the functions around them.

    Left out: docstrings and texts, type hints, decorators, imports, assertions, and what is raised or printed.
    """
    yield from walk(tree, 0, (), False)


def walk(
    node: ast.AST, statement: int, scope: tuple[str, ...], inside: bool
) -> Iterator[tuple[ast.AST, int, tuple[str, ...]]]:
    if is_words(node):
        return
    if isinstance(node, ast.stmt):
        statement = node.lineno
    yield node, statement, scope if inside else ()
    function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    named = function or isinstance(node, ast.ClassDef)
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "bases", "type_comment"} or (
            named and field == "keywords"
        ):
            continue
        own = (*scope, node.name) if named and field == "body" else scope  # type: ignore[attr-defined]
        within = (inside or function) if field == "body" or not function else inside
        for child in value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]:
            if isinstance(child, ast.AST):
                yield from walk(child, statement, own, within)


def is_words(node: ast.AST) -> bool:
    """Whether a node is a text, a hint, or what a reader is told."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Raise | ast.JoinedStr):
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id in HINTS
    if isinstance(node, ast.keyword):
        return node.arg in NO_KEYWORDS
    if isinstance(node, ast.Assign):
        return any(
            isinstance(target, ast.Name) and (target.id == "__all__" or is_hint(node.value)) for target in node.targets
        )
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        return name in WORDS
    return False


def is_hint(node: ast.AST) -> bool:
    """Whether a value is a union of types, such as `int | str`."""
    parts = list(ast.walk(node))
    return isinstance(node, ast.BinOp) and any(
        isinstance(part, ast.Name) and part.id in {"int", "str", "None"} for part in parts
    )
