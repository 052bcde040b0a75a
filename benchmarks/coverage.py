"""Do the statistics keep their promise? Simulated data of which the truth is known, and how often each statement is right.

Each file of `coverage_cases` is a subject: intervals (how often they hold the truth), marks and tests (how often they are raised
without cause, and with). The table goes to docs/results/coverage.md with its date and seed; exit code 1 if a row breaks its
promise.

    python benchmarks/coverage.py
    python benchmarks/coverage.py --subjects interference --simulations 200 --out -
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

import coverage_cases
from coverage_cases.row import Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "coverage.md"
HEAD = """# Simulated coverage

Made by `python benchmarks/coverage.py{options}` on {day}, seed {seed}. Do not edit: run it again.

Each row simulates data of which the truth is known and counts how often a statement about it is right. `±` is the standard error
of the simulation. A promise allows the range in the last column; it counts as broken if it is missed by more than two standard
errors.
"""


def subjects() -> list[str]:
    """The files of cases; `row` and those that begin with an underscore are not."""
    names = (one.name for one in pkgutil.iter_modules(coverage_cases.__path__))
    return sorted(name for name in names if name != "row" and not name.startswith("_"))


def parts_of(name: str) -> int:
    """How many parts of a subject can be simulated side by side."""
    return getattr(importlib.import_module(f"coverage_cases.{name}"), "PARTS", 1)


def rows_of(name: str, part: int, simulations: int, seed: int) -> list[Row]:
    began = time.perf_counter()
    subject = importlib.import_module(f"coverage_cases.{name}")
    which = (part,) if parts_of(name) > 1 else ()
    rows = subject.rows(simulations, seed, *which)
    print(f"{name}{f', part {part + 1}' if which else ''}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return list(rows)


def number(row: Row, value: float) -> str:
    if row.unit == "number":
        return f"{value:.2f}"
    return f"{100 * value:.1f}%"


def line(row: Row) -> str:
    measured = f"{number(row, row.value)} ± " + (
        f"{100 * row.error:.1f}" if row.unit == "share" else f"{row.error:.2f}"
    )
    allowed = f"{number(row, row.low)} to {number(row, row.high)}{'' if row.within else ' **broken**'}"
    return f"| {row.case} | {row.promise} | {measured} | {row.simulations:,} | {allowed} |"


def tables(rows: Sequence[Row]) -> str:
    """A table per subject, in the order of the rows."""
    parts = []
    for subject in dict.fromkeys(row.subject for row in rows):
        parts += [f"\n## {subject}\n", "| case | promise | simulated | datasets | allowed |", "|---|---|---|---|---|"]
        parts += [line(row) for row in rows if row.subject == subject]
    return "\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="+", choices=subjects(), default=subjects())
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--out", default=str(PAGE), help="the page to write; - for stdout")
    chosen = parser.parse_args()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        jobs = [(name, part) for name in chosen.subjects for part in range(parts_of(name))]
        parts = [pool.submit(rows_of, *job, chosen.simulations, chosen.seed) for job in jobs]
        rows = [row for part in parts for row in part.result()]
    options = "" if chosen.simulations == 1000 else f" --simulations {chosen.simulations}"
    page = HEAD.format(options=options, day=date.today().isoformat(), seed=chosen.seed) + tables(rows)
    if chosen.out == "-":
        print(page)
    else:
        Path(chosen.out).write_text(page)
    return int(not all(row.within for row in rows))


if __name__ == "__main__":
    sys.exit(main())
