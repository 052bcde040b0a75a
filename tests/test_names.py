"""Names in the source say what a thing is: a participle such as `held` or `told` does not, nor does `one`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "snellen"
ROOMS = [
    path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in ("measure", "published", "__pycache__")
]
EMPTY = {"held", "told", "asked", "found", "made", "said", "kept", "given", "drawn", "one"}
STORED = {
    ("audits/deletion_curves.py", "asked"),
    ("audits/trust.py", "one"),
    ("build/in9/request.py", "kept"),
    ("engine/keep/schemas.py", "asked"),
    ("exam/explain_pictures.py", "said"),
}  # names in files and in the output of --json
FILES = [file for room in ROOMS for file in sorted((SOURCE / room).rglob("*.py"))] + sorted(SOURCE.glob("*.py"))


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that a file binds: functions, classes, parameters, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def file_id(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("file", FILES, ids=file_id)
def test_every_name_says_what_a_thing_is(file: Path) -> None:
    names = {
        name.strip("_") for name in bound_names(ast.parse(file.read_text()))
    }  # ONE of fixed-point numbers is a number
    allowed = {name for path, name in STORED if path == file_id(file)}
    assert not names & EMPTY - allowed


def test_an_empty_name_would_be_seen() -> None:
    assert set(bound_names(ast.parse("def told(held):\n    made = self.found = 1"))) == {
        "told",
        "held",
        "made",
        "found",
    }
