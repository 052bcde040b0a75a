"""A class that says it is frozen does not change: none of its methods alters what one of its fields holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "snellen"
CHANGING = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popleft", "remove", "setdefault", "update"}


def changes(tree: ast.AST) -> Iterator[str]:
    """The places where a frozen dataclass changes a field of its own, as Class.field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any("frozen=True" in ast.unparse(d) for d in node.decorator_list):
            fields = {
                entry.target.id
                for entry in node.body
                if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
            }
            yield from (f"{node.name}.{field}" for field in _changed(node) if field in fields)


def _changed(body: ast.AST) -> Iterator[str]:
    for node in ast.walk(body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.AugAssign):
            targets = [node.target.value if isinstance(node.target, ast.Subscript) else node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            targets = [node.func.value]
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr


def test_no_frozen_class_changes() -> None:
    wrong = [f"{file}: {place}" for file in SOURCE.rglob("*.py") for place in changes(ast.parse(file.read_text()))]
    assert not wrong, "they say that they are frozen:\n" + "\n".join(wrong)


@pytest.mark.parametrize("change", ["self.seen.append(1)", "self.seen[0] = 1", "self.seen += [1]", "self.seen[0] += 1"])
def test_a_change_would_be_seen(change: str) -> None:
    text = f"@dataclass(frozen=True)\nclass Look:\n    seen: list[int]\n    def at(self):\n        {change}"
    assert list(changes(ast.parse(text))) == ["Look.seen"]
