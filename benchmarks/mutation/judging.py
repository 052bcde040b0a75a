"""Whether the tests notice a mutant: a process that has packages and tests in memory, and a copy of itself for each mutant."""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutation.code_swap import freeze_memory, swap_code
from mutation.mutant import Mutant
from mutation.tracing import ALWAYS
from mutation.tree import environment

HEAVY = (
    *(
        "numpy",
        "scipy.stats",
        "scipy.optimize",
        "scipy.ndimage",
        "pandas",
        "pyarrow.parquet",
        "duckdb",
        "cv2",
        "PIL.Image",
    ),
    *("torch", "torchvision", "timm", "hypothesis", "msgspec", "jinja2", "typer.testing", "rich.progress", "yaml"),
)


@dataclass(frozen=True)
class Outcome:
    """`state`: killed, survived, late (no test failed in the time), or unseen (no test runs the line); the test that
    noticed and what it said; how many tests ran."""

    state: str
    test: str = ""
    said: str = ""
    ran: int = 0


def load_packages() -> None:
    """Imports, once for all mutants, what takes long to import and has no fault in it."""
    for name in HEAVY:
        importlib.import_module(name)


def load_tests(tree: Path, root: Path) -> None:
    """Imports, once for all mutants inside functions, the copy's package and its tests: pytest takes them from memory."""
    enter(tree, root)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        pytest.main(["--collect-only", *ALWAYS, "tests"])
    freeze_memory()


def enter(tree: Path, root: Path) -> None:
    """Makes the copy the place where this process and those that it starts find the package."""
    os.environ.update(environment(tree, root))
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tree / "src"))
    os.chdir(tree)


class Judge:
    """Plug-in: runs the wanted tests in their order until one fails, each with a limit of processor time."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float], limit: float) -> None:
        self.order = {test: number for number, test in enumerate(tests)}
        self.seconds, self.limit = seconds, limit
        self.answer: Path | None = None
        self.found: dict[str, Any] = {"state": "survived", "ran": 0}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.setitimer(signal.ITIMER_PROF, 20 + 5 * self.seconds.get(item.nodeid, 0))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._killed(report.nodeid, report)
        self.found["ran"] += report.when == "call"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._killed(report.nodeid, report)

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.process_time() > self.limit:
            self.found["state"] = "late"
            item.session.shouldstop = "no time left"

    def _killed(self, test: str, report: pytest.TestReport | pytest.CollectReport) -> None:
        crash = getattr(report.longrepr, "reprcrash", None)
        said = crash.message if crash else str(report.longrepr).strip().splitlines()[-1]
        if self.found["state"] != "killed":
            self.found |= {"state": "killed", "test": test, "said": said.split("\n")[0][:160]}
        self.end()

    def end(self) -> None:
        """Writes down what was found and ends the process, without tidying up: the copy of memory is thrown away."""
        assert self.answer is not None
        self.answer.write_text(json.dumps(self.found), encoding="utf-8")
        os._exit(0)


def judge(
    mutant: Mutant, root: Path, tree: Path, tests: Sequence[str], seconds: dict[str, float], limit: float
) -> Outcome:
    """Puts a mutant into the copy, runs the tests in a process of its own, and mends the copy again."""
    if not tests:
        return Outcome("unseen")
    answer, temporary = tree.parent / f"{tree.name}.json", tree.parent / f"{tree.name}-tmp"
    answer.unlink(missing_ok=True)
    (tree / mutant.file).write_text(mutant.source(root), encoding="utf-8")
    child = os.fork()
    if not child:
        _run(mutant, tree, root, tests, Judge(tests, seconds, limit), answer, temporary)
    ended = _wait(child, 10 * limit)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests started and left
    shutil.copy2(root / mutant.file, tree / mutant.file)
    shutil.rmtree(temporary, ignore_errors=True)
    if not ended or not answer.exists():
        return Outcome("killed", "", "the process hung" if not ended else "the process died")
    return Outcome(**json.loads(answer.read_text(encoding="utf-8")))


def _wait(child: int, limit: float) -> bool:
    """Whether a process, alone in its group, ends by itself."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run(
    mutant: Mutant, tree: Path, root: Path, tests: Sequence[str], plugin: Judge, answer: Path, temporary: Path
) -> None:
    """The process of one mutant: everything it prints is dropped, and it never comes back."""
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        enter(tree, root)
        swap_code(mutant, root, tree)
        plugin.answer = answer
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, _too_long)
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        options = ["-x", "--basetemp", str(temporary), *ALWAYS]
        pytest.main([*options, *files], plugins=[plugin])
        plugin.end()
    finally:
        os._exit(0)


def _too_long(number: int, frame: FrameType | None) -> None:
    pytest.fail("takes many times longer than without the fault", pytrace=False)
