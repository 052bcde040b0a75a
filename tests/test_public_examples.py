"""Every public function has an example in its docstring, and what the example shows is what comes."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snellen.exam.run import Run

from .test_package import rooms

ROOMS = (
    *("", "audits", "attention", "build.diffuse", "build.hts", "build.in9", "build.iruo", "build.occluders", "build.phantom"),
    *("build.synthetic", "calibrate", "check", "checks", "concepts", "data", "data.in9", "data.phantom", "distort", "engine"),
    *("exam", "explain", "export", "files", "measure", "models", "models.compositional", "models.observers", "plugins"),
    *("report", "search", "sweep", "train", "train.augment", "train.mixing"),
    *("web", "web.curate", "web.study"),
)  # fmt: skip
# Steps within a run: they take what other steps make of it, and nobody calls one alone.
INSIDE = {
    "audits": {"differences", "with_trust"},
    "calibrate": {"climb", "rows_of"},
    "checks": {"doubts_about", "stored_copies"},
    "engine": {"make_plan", "read_answers"},
    "plugins": {"blame", "dataclass_of", "instance_of", "stamp"},
    "models.compositional": {"is_compositional"},
    "report": {"gate_blocks", "write_findings", "write_gate", "write_results"},
    "web.curate": {"settle_reviews"},
    "web.study": {"study_app"},
}
# Loading plug-ins changes what every later test in the process sees; docs/contribute/plugins.md has the example.
FOR_GOOD = {"": {"load_plugin"}, "plugins": {"load_plugin", "load_plugins", "plugin_files", "plugin_versions"}}
# Longer than an example may take, or they serve until Ctrl-C or write to a server; tests carry out the pages that show them.
SHOWN_ON_PAGES = {
    "report": {"to_mlflow"},
    "search": {"confusion"},
    "sweep": {"load_matrix", "matrix"},
    "web": {"serve"},
    "web.curate": {"curate"},
}
EXEMPT = (INSIDE, FOR_GOOD, SHOWN_ON_PAGES)
INSIDE_RUN = {"map_key"}


def public_functions(room: str) -> Iterator[Callable[..., object]]:
    """The functions that a room lists as public, by name."""
    module = importlib.import_module(f"snellen.{room}".rstrip("."))
    yield from (thing for name in module.__all__ if inspect.isfunction(thing := getattr(module, name)))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_has_an_example(room: str) -> None:
    without = {function.__name__ for function in public_functions(room) if ">>>" not in (function.__doc__ or "")}
    assert without == set().union(*(exempt.get(room, set()) for exempt in EXEMPT))


def run_methods() -> list[Callable[..., object]]:
    """What a `Run` can do, by name."""
    return [thing for name, thing in vars(Run).items() if inspect.isfunction(thing) and not name.startswith("_")]


def test_every_method_of_a_run_has_an_example() -> None:
    assert {method.__name__ for method in run_methods() if ">>>" not in (method.__doc__ or "")} == INSIDE_RUN


def test_every_room_that_lists_functions_is_among_the_rooms() -> None:
    known = {f"snellen.{room}".rstrip(".") for room in ROOMS}
    for module in rooms():
        if f"snellen.{module}" not in known and hasattr(importlib.import_module(f"snellen.{module}"), "__all__"):
            assert not list(public_functions(module)), module


@pytest.mark.slow
@pytest.mark.parametrize("room", [*ROOMS, "Run"])
def test_examples_show_what_comes(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for function in run_methods() if room == "Run" else public_functions(room):
        place = tmp_path / function.__name__
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        example = parser.get_doctest(function.__doc__ or "", {}, function.__name__, None, None)
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
