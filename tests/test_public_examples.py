"""Every public function has an example in its docstring, and what the example shows is what comes."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOMS = (
    *("", "audits", "attention", "build.diffuse", "build.hts", "build.in9", "build.iruo", "build.occluders", "build.phantom"),
    *("build.synthetic", "calibrate", "check", "concepts", "data", "data.in9", "data.phantom", "distort", "exam", "explain"),
    *("measure", "models", "models.observers", "report", "search", "sweep", "train", "train.augment", "train.mixing"),
    *("web.curate", "web.study"),
)  # fmt: skip
# Parts of a run's inside, which nobody calls alone: `checks`, `engine`, `files`, `plugins` and `web` are not among the rooms.
INSIDE = {
    "audits": {"differences", "with_trust"},
    "calibrate": {"climb", "rows_of", "score"},
    "report": {"gate_blocks", "write_findings", "write_gate", "write_results"},
    "web.study": {"study_app"},
}
# What they take is made by commands whose pages are carried out by other tests, or they change what later tests see.
SHOWN_ON_PAGES = {
    "": {"load_plugin"},
    "attention": {"draw_attention"},
    "build.hts": {"build", "build_set"},
    "build.in9": {"rebuild"},
    "build.iruo": {"build", "build_set"},
    "data.in9": {"load_in9"},
    "data.phantom": {"load_phantom", "read_world"},
    "report": {"to_mlflow"},
    "search": {"confusion"},
    "sweep": {"grain", "load_matrix", "matrix"},
    "web.curate": {"curate", "settle_reviews"},
}


def public_functions(room: str) -> Iterator[Callable[..., object]]:
    """The functions that a room lists as public, by name."""
    module = importlib.import_module(f"snellen.{room}".rstrip("."))
    yield from (thing for name in module.__all__ if inspect.isfunction(thing := getattr(module, name)))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_has_an_example(room: str) -> None:
    without = {function.__name__ for function in public_functions(room) if ">>>" not in (function.__doc__ or "")}
    assert without == INSIDE.get(room, set()) | SHOWN_ON_PAGES.get(room, set())


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_examples_show_what_comes(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for function in public_functions(room):
        place = tmp_path / function.__name__
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        example = parser.get_doctest(function.__doc__ or "", {}, function.__name__, None, None)
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
