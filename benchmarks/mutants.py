"""Do the tests notice faults? Single lines of the source changed one by one, and the tests that run the line.

Lines are drawn by a seed from the rooms whose numbers are reported; each gets one small fault (a comparison, an operator, a
constant, an argument or element dropped …). `trace` runs the tests once on a copy of the repository that notes which test runs
which of the lines. `run` puts the faults into another copy one by one and runs the tests of the line, quickest first, until one
fails; it goes on where it stopped. `control` runs every test that noticed a fault once more without one. `page` writes
docs/results/mutants.md and its table. The repository is never changed.

    python benchmarks/mutants.py trace
    python benchmarks/mutants.py run
    python benchmarks/mutants.py control
    python benchmarks/mutants.py page

Tests marked slow are traced by `trace --marks slow`, single files by `trace tests/measure`; notes add up in the folder `--work`.
After new tests: `trace` of their files, then `run --again`, which judges what was not killed.
"""

from __future__ import annotations

import argparse
import compileall
import csv
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from mutation.mutant import Mutant
from mutation.named import named
from mutation.page import equivalents, page
from mutation.sampling import of_rooms
from mutation.tracing import Trace, read_trace, trace
from mutation.tree import copy_tree

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = ("file", "line", "operator", "before", "after", "state", "test", "said", "ran")


def main() -> None:
    parser = argparse.ArgumentParser(description="Do the tests notice faults?")
    parser.add_argument("step", choices=("trace", "run", "control", "page"))
    parser.add_argument("tests", nargs="*", default=["tests"], help="files or folders to trace")
    parser.add_argument("--marks", default="not slow", help="which tests to trace, as pytest's -m")
    parser.add_argument("--count", type=int, default=360, help="mutants to draw, about")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--limit", type=float, default=120, help="seconds of processor time per mutant")
    parser.add_argument("--part", default="1/1", help="which part of the mutants to judge, such as 1/2")
    parser.add_argument("--rooms", nargs="*", help="judge those of these rooms alone, such as measure search")
    parser.add_argument("--again", action="store_true", help="judge those again that were not killed")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "snellen-mutants")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    {"trace": trace_tests, "run": run, "control": control, "page": write_page}[options.step](options)


def mutants_of(options: argparse.Namespace) -> list[Mutant]:
    return [*named(ROOT), *of_rooms(ROOT, options.count, options.seed)]


def trace_tests(options: argparse.Namespace) -> None:
    trace(ROOT, mutants_of(options), options.work, options.tests, options.marks)


def run(options: argparse.Namespace) -> None:
    """Judges the mutants of a part that were not judged yet, and writes each down; those that need an import come first."""
    from mutation.code_swap import can_swap
    from mutation.judging import load_packages, load_tests

    part, parts = (int(number) for number in options.part.split("/"))
    table, tree = options.work / f"results-{part}.csv", copy_tree(ROOT, options.work / f"tree-{os.getpid()}")
    traced = read_trace(options.work)
    compileall.compile_dir(tree / "src", quiet=2)
    wanted = open_mutants(options)[part - 1 :: parts]
    swapped = [mutant for mutant in wanted if not traced.runs_at_import(mutant) and can_swap(mutant, ROOT, tree)]
    load_packages()
    for mutant in wanted:
        if mutant not in swapped:
            judge_and_note(mutant, traced, tree, table, options.limit)
    load_tests(tree, ROOT)
    for mutant in swapped:
        judge_and_note(mutant, traced, tree, table, options.limit)


def control(options: argparse.Namespace) -> None:
    """Every test that noticed a fault passes without one, in the same process; else its name, and exit code 1."""
    from mutation.judging import judge, load_packages, load_tests

    traced, tree = read_trace(options.work), copy_tree(ROOT, options.work / f"tree-{os.getpid()}")
    noticed = sorted({row["test"] for row in read_rows(options.work)} & traced.seconds.keys(), key=traced.seconds.get)
    load_packages()
    load_tests(tree, ROOT)
    place = mutants_of(options)[0]
    same = replace(place, text=place.lines(ROOT)[0][place.start : place.end])
    outcome = judge(same, ROOT, tree, noticed, traced.seconds, 3600)
    print(f"{outcome.ran} of {len(noticed)} tests without a fault: {outcome.state} {outcome.test} {outcome.said}")
    sys.exit(outcome.state != "survived")


def open_mutants(options: argparse.Namespace) -> list[Mutant]:
    """Those that were not judged yet or, with `--again`, neither killed nor known to change nothing."""
    same = set(equivalents())
    settled = {
        key(row)
        for row in read_rows(options.work)
        if row["state"] == "killed" or not options.again or (row["file"], row["before"], row["after"]) in same
    }
    rooms = options.rooms or {mutant.room for mutant in mutants_of(options)}
    return [mutant for mutant in mutants_of(options) if mutant.room in rooms and key(row_of(mutant)) not in settled]


def judge_and_note(mutant: Mutant, traced: Trace, tree: Path, table: Path, limit: float) -> None:
    from mutation.judging import judge

    began = time.monotonic()
    outcome = judge(mutant, ROOT, tree, traced.tests_of(mutant), traced.seconds, limit)
    append_row(table, {**row_of(mutant), **asdict(outcome)})
    print(f"{time.monotonic() - began:5.1f} s {outcome.state:9}{mutant.file}:{mutant.line} {outcome.test}", flush=True)


def row_of(mutant: Mutant) -> dict[str, object]:
    before, after = mutant.lines(ROOT)
    return dict(zip(COLUMNS, (mutant.file, mutant.line, mutant.operator, before.strip(), after.strip())))


def key(row: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("file", "before", "after", "line"))


def read_rows(work: Path) -> list[dict[str, str]]:
    """What was judged, each mutant once: a later judgement counts."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for table in sorted(work.glob("results-*.csv")):
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if rows.get(key(row), {}).get("state") != "killed":
                    rows[key(row)] = row
    return list(rows.values())


def append_row(table: Path, row: dict[str, object]) -> None:
    new = not table.exists()
    with table.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def write_page(options: argparse.Namespace) -> None:
    wanted = [key(row_of(mutant)) for mutant in mutants_of(options)]
    judged = {key(row): row for row in read_rows(options.work)}
    page(ROOT, [judged[place] for place in wanted if place in judged], options.seed)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
