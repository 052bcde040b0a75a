"""The results page: how many mutants were noticed, by room and by operator, and every one that was not."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from mutation.sampling import ROOMS

PROMPTED = Path(__file__).with_name("prompted.txt")  # tests that were written or sharpened because of this sample
EQUIVALENT = Path(__file__).with_name("equivalent.csv")  # file, before, after, why
WIDTH = 120
COLUMNS = ("file", "line", "operator", "before", "after", "outcome", "test")
HEAD = """# Mutants

Made by `python benchmarks/mutants.py page` on {day}, seed {seed}. Do not edit: run it again.

{killed} of {real} single-line faults are noticed by the tests: {rate:.1f}%.

- {prompted} of these are noticed by tests that were written because of this sample. Without them it is {before:.1f}%: what to
  expect of another seed, up to sampling error, or more where the new tests notice other faults too.
- {equivalent} more faults change nothing that can be observed. They are listed below with the reason and are not counted.
- Every fault with the test that noticed it: [data/mutants.csv](data/mutants.csv).
- The lines are drawn by the seed from the rooms below, each room in proportion to the root of its number of lines; the
  {named} faults that a reader once put in unnoticed are always among them.
- A line gets one fault: a comparison, an operator, a constant, a negation, a function's twin (`min` for `max`), an argument,
  element or statement dropped. Crude ones (`return None`, the last argument) only where a line has nothing finer.
- Left out: texts, type hints, decorators, and what is raised or printed.
- The tests of a line are those that ran it in a traced run, and the others of their files, until one fails.
"""


def page(root: Path, rows: Sequence[dict[str, str]], seed: int) -> None:
    """Writes docs/results/mutants.md and its table."""
    reasons = equivalents()
    judged = [{**row, "outcome": _outcome(row, reasons)} for row in rows]
    with (root / "docs" / "results" / "data" / "mutants.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(judged)
    (root / "docs" / "results" / "mutants.md").write_text(_text(judged, reasons, seed), encoding="utf-8")


def equivalents() -> dict[tuple[str, str, str], str]:
    """The mutants that were read and change nothing that can be observed: file, line before and after → why."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["before"], row["after"]): row["why"] for row in csv.DictReader(file)}


def _outcome(row: dict[str, str], reasons: dict[tuple[str, str, str], str]) -> str:
    if row["state"] == "killed":
        return "killed"
    return "equivalent" if (row["file"], row["before"], row["after"]) in reasons else "survived"


def _text(judged: Sequence[dict[str, str]], reasons: dict[tuple[str, str, str], str], seed: int) -> str:
    outcomes = Counter(row["outcome"] for row in judged)
    real = outcomes["killed"] + outcomes["survived"]
    written = set(PROMPTED.read_text(encoding="utf-8").split())
    prompted = sum(row["outcome"] == "killed" and row["test"].partition("[")[0] in written for row in judged)
    head = HEAD.format(
        prompted=prompted, before=100 * (outcomes["killed"] - prompted) / max(real, 1),
        day=date.today(), seed=seed, killed=outcomes["killed"], real=real, rate=100 * outcomes["killed"] / max(real, 1),
        equivalent=outcomes["equivalent"], named=sum(row["operator"] == "named" for row in judged),
    )  # fmt: skip
    parts = [head, *_counts("room", judged, [*ROOMS, "distort"], _room)]
    parts += _counts("operator", judged, sorted({row["operator"] for row in judged}), lambda row: row["operator"])
    survived = [row for row in judged if row["outcome"] == "survived"]
    if survived:
        parts += ["## Not noticed\n", *_listed(survived, {})]
    return "\n".join(
        [*parts, "## Equivalent\n", *_listed([r for r in judged if r["outcome"] == "equivalent"], reasons)]
    )


def shorten(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


def _room(row: dict[str, str]) -> str:
    below = row["file"].removeprefix("src/snellen/")
    return next((room for room in ROOMS if below.startswith(f"{room}/")), "distort")


def _counts(name: str, judged: Sequence[dict[str, str]], kinds: Iterable[str], kind_of) -> list[str]:  # type: ignore[no-untyped-def]
    lines = [
        f"| {name} | mutants | killed | equivalent | survived | killed of those that matter |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for kind in kinds:
        own = Counter(row["outcome"] for row in judged if kind_of(row) == kind)
        real = own["killed"] + own["survived"]
        if own:
            rate = f"{100 * own['killed'] / real:.0f}%" if real else "–"
            lines.append(
                f"| {kind} | {own.total()} | {own['killed']} | {own['equivalent']} | {own['survived']} | {rate} |"
            )
    return [*lines, ""]


def _listed(rows: Sequence[dict[str, str]], reasons: dict[tuple[str, str, str], str]) -> list[str]:
    """A list, since a line of code does not fit a table."""
    lines = []
    for row in rows:
        why = reasons.get((row["file"], row["before"], row["after"]), "")
        lines += [
            f"- `{row['file'].removeprefix('src/snellen/')}:{row['line']}`, {row['operator']}{': ' * bool(why)}{why}"
        ]
        lines += [
            "",
            *(f"      {sign} {shorten(row[side], WIDTH)}" for sign, side in (("-", "before"), ("+", "after"))),
            "",
        ]
    return lines
