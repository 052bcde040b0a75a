"""One run of the tests on a copy with notes in it: how long each test takes, and which of them run a mutant's line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation.mutant import Mutant
from mutation.tree import copy_tree, environment, place_probes

HERE = Path(__file__).resolve().parent
ALWAYS = (
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:unraisableexception",
    "--hypothesis-seed=0",
    "-W",
    "ignore",
)
WHOLE = {
    "tests/test_docs.py::test_the_generated_pages_are_current"
}  # it writes down what is set at import: defaults, tables


@dataclass(frozen=True)
class Trace:
    """`seconds` of each test that passed, and the tests that ran each mark (`file:line`, or `file:` for any function of it)."""

    seconds: dict[str, float]
    hits: dict[str, set[str]]

    def runs_at_import(self, mutant: Mutant) -> bool:
        """Whether its line runs before any test, when packages and tests are imported."""
        return not mutant.scope or "" in self.hits.get(f"{mutant.file}:{mutant.statement}", set())

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run its line, quickest first, then the others of their files, which may use what those left.

        Of what is set at import the pages' test comes first, and the others are those of files that name the module.
        """
        known = self.seconds.keys()
        if not mutant.scope:
            direct = (self.hits.get(f"{mutant.file}:", set()) | WHOLE) & known
        else:
            direct = self.hits.get(f"{mutant.file}:{mutant.statement}", set()) & known
        if not direct:  # it runs at import: whatever uses the file
            direct = (
                set().union(*(tests for mark, tests in self.hits.items() if mark.startswith(f"{mutant.file}:"))) & known
            )
        files = {test.partition("::")[0] for test in direct} if mutant.scope else files_that_name(mutant.module)
        beside = {test for test in known if test.partition("::")[0] in files} - direct
        quickest = {test: (test not in WHOLE, took) for test, took in self.seconds.items()}
        return [*sorted(direct, key=quickest.__getitem__), *sorted(beside, key=quickest.__getitem__)]


def files_that_name(module: str) -> set[str]:
    """The test files in which a module's name stands."""
    root = HERE.parents[1]
    return {
        path.relative_to(root).as_posix()
        for path in (root / "tests").rglob("test_*.py")
        if f"{module} " in path.read_text(encoding="utf-8")
    }


def trace(root: Path, mutants: Sequence[Mutant], work: Path, tests: Sequence[str], marks: str) -> None:
    """Runs the tests; what they do is added to the notes in the folder `work`."""
    notes, tree = work / "notes.tsv", copy_tree(root, work / "traced")
    place_probes(tree, mutants, notes)
    own = environment(tree, root)
    own["PYTHONPATH"] += os.pathsep + str(HERE.parent)
    own["MUTANT_TIMES"] = str(work / "times.jsonl")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "mutation.times",
        "-m",
        marks,
        "--basetemp",
        str(work / "tmp"),
        *ALWAYS,
    ]
    subprocess.run([*command, *tests], cwd=tree, env=own, check=False)


def read_trace(work: Path) -> Trace:
    seconds: dict[str, float] = {}
    for line in (work / "times.jsonl").read_text(encoding="utf-8").splitlines():
        test, took, passed = json.loads(line)
        if passed:
            seconds[test] = took
    hits: dict[str, set[str]] = defaultdict(set)
    for line in (work / "notes.tsv").read_text(encoding="utf-8").splitlines():
        mark, _, test = line.partition("\t")
        hits[mark].add(test.rpartition(" (")[0])
    return Trace(seconds, hits)
