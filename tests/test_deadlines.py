"""No property test has a deadline: how long an example takes depends on how busy the machine is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hypothesis import settings

TESTS = Path(__file__).parent


def deadlines_in(source: str) -> Iterator[str]:
    """Every deadline that a file names, as it is written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "deadline":
            yield ast.unparse(node.value)


def test_the_profile_of_the_suite_sets_none() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert settings(max_examples=3).deadline is None


def test_no_test_sets_one_of_its_own() -> None:
    named = {
        f"{file.relative_to(TESTS)}: {one}" for file in TESTS.rglob("*.py") for one in deadlines_in(file.read_text())
    }
    assert {one for one in named if not one.endswith(": None")} == set()


def test_one_would_be_seen() -> None:
    assert list(deadlines_in("@settings(max_examples=3, deadline=200)\ndef test(): ...")) == ["200"]
