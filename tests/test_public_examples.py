"""Every public function has an example in its docstring, and what the example shows is what comes."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

EXAMPLES = ("measure", "data", "distort", "models", "models.observers")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_functions(room: str) -> Iterator[Callable[..., object]]:
    """The functions that a room lists as public, each once."""
    module = importlib.import_module(f"snellen.{room}".rstrip("."))
    named = (getattr(module, name) for name in module.__all__)
    yield from {thing: None for thing in named if inspect.isfunction(thing)}


@pytest.mark.parametrize("room", EXAMPLES)
def test_every_public_function_has_an_example(room: str) -> None:
    without = [function.__name__ for function in public_functions(room) if ">>>" not in (function.__doc__ or "")]
    assert not without


@pytest.mark.parametrize("room", EXAMPLES)
def test_examples_show_what_comes(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    report: list[str] = []
    for function in public_functions(room):
        place = tmp_path / function.__name__
        place.mkdir()
        monkeypatch.chdir(place)
        for example in doctest.DocTestFinder(recurse=False).find(function, function.__name__, globs={}):
            runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
    assert runner.tries > 0
