"""Read many hostile inputs and count what came of them by reader: `python tests/hostile/report.py --inputs 10000 --out FILE`.

FILE gets the table, every failure with how to repeat it, and every distinct message once, for reading. `--reader` and
`--number` repeat one input; `--keep` leaves its files in a folder.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

if not __package__:  # run as a script
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    __package__ = "hostile"

from .harness import PATIENCE, Harness, cases_of, run_together
from .outcome import BAD, GOOD, Outcome
from .readers import READERS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--inputs", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the table, the failures and the messages")
    parser.add_argument("--reader", action="append", default=[], choices=sorted(READERS), help="only this one")
    parser.add_argument("--number", type=int, help="only this input of the reader")
    parser.add_argument("--keep", type=Path, help="move the files of the last input to this folder")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of processor time for one input")
    parser.add_argument("--jobs", type=int, default=1, help="inputs that are read at once")
    chosen = parser.parse_args(arguments)
    cases = cases_of(chosen.inputs, chosen.reader)
    if chosen.number is not None:
        cases = [(name, chosen.number) for name in chosen.reader]
    if chosen.keep is not None:
        with Harness(chosen.seed, chosen.patience) as harness:
            outcomes = told(harness.run(cases), len(cases))
            shutil.move(harness.sandbox.case, chosen.keep)  # a copy would wait for pipes
    else:
        outcomes = told(run_together(cases, chosen.seed, chosen.patience, chosen.jobs), len(cases))
    print(table_of(outcomes))
    if chosen.out is not None:
        chosen.out.write_text(whole_report(outcomes, chosen.seed))
    return int(any(outcome.result in BAD for outcome in outcomes))


def told(outcomes: Iterable[Outcome], count: int) -> list[Outcome]:
    """All outcomes; failures, and how far it is, go to stderr as they come."""
    every: list[Outcome] = []
    for outcome in outcomes:
        every.append(outcome)
        if outcome.result in BAD or count == 1:
            print(line_of(outcome), file=sys.stderr, flush=True)
        if len(every) % 500 == 0:
            print(f"{len(every):,} of {count:,}", file=sys.stderr, flush=True)
    return sorted(every, key=lambda outcome: (list(READERS).index(outcome.reader), outcome.number))


def table_of(outcomes: Sequence[Outcome]) -> str:
    """How often each result came, by reader."""
    results = [*GOOD, *BAD]
    counts = Counter((outcome.reader, outcome.result) for outcome in outcomes)
    readers = list(dict.fromkeys(outcome.reader for outcome in outcomes))
    rows = [("reader", "inputs", *results)]
    for reader in readers:
        each = [counts[reader, result] for result in results]
        rows.append((reader, *(f"{count:,}" if count else "·" for count in (sum(each), *each))))
    totals = [sum(counts[reader, result] for reader in readers) for result in results]
    rows.append(("all", *(f"{count:,}" for count in (sum(totals), *totals))))
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(wide[0]), *(text.rjust(width) for text, width in zip(row[1:], wide[1:]))])
        for row in rows
    )


def whole_report(outcomes: Sequence[Outcome], seed: int) -> str:
    parts = [table_of(outcomes), f"\nFailures (repeat with --seed {seed} --reader READER --number NUMBER)\n"]
    for (reader, _, _), (first, count) in distinct_failures(outcomes).items():
        parts.append(f"{count:4d}× {reader}: {line_of(first)}")
    parts.append("\nMessages, each once\n")
    messages = {shape_of(one): one for one in reversed(outcomes) if one.result in ("refused", "net", "vague")}
    parts += sorted(f"[{one.reader}] {one.message}    ← {one.change}" for one in messages.values())
    return "\n".join(parts) + "\n"


def distinct_failures(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, str], tuple[Outcome, int]]:
    """Failures that differ in reader, result and place (or message), with the first input of each and how many there are."""
    failures: dict[tuple[str, str, str], tuple[Outcome, int]] = {}
    for one in outcomes:
        if one.result in BAD:
            key = one.reader, one.result, one.place.partition(" ")[0] + one.message.partition(":")[0][:40]
            first, count = failures.get(key, (one, 0))
            failures[key] = first, count + 1
    return failures


def shape_of(outcome: Outcome) -> str:
    """A message without what differs from one input to the next: quotes, numbers and paths."""
    return re.sub(r"'[^']*'|\d+|/\S+", "…", outcome.message)


def line_of(outcome: Outcome) -> str:
    where = f" at {outcome.place}" if outcome.place else ""
    return f"{outcome.reader} #{outcome.number} {outcome.result}{where}: {outcome.message[:300]}    ← {outcome.change}"


if __name__ == "__main__":
    sys.exit(main())
