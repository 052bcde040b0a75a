"""Are the sentences true? Random worlds with planted truth, reports concluded from them, and what these claim.

Each file of `sentence_cases` makes reports by seed (imbalanced and two classes, 20 to 2,000 images, even and uneven groups,
models that are constant, at chance or equal) through the real audits and verdicts, and holds each claim against what was planted.
`sentence_cases/kinds.py` lists every kind of claim. The table goes to docs/results/sentences.md; exit code 1 if one is false too
often, or too weak. About ten minutes on one core.

    python benchmarks/sentences.py
    python benchmarks/sentences.py --cases squares marks --scale 0.1 --out -
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from sentence_cases.kinds import KINDS, REASONS, Kind, listing
from sentence_cases.observation import ReportRead
from sentence_cases.tally import Table, Tally

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "sentences.md"
REPORTS = {
    "clean_images": 2500, "marks": 900, "models_compared": 600, "artefacts": 600, "squares": 2000, "confidence": 1200,
    "backgrounds": 2000, "maps": 800, "edits": 1200, "ranks": 600, "people": 1200,
    "first_screens": 1200,
}  # fmt: skip
PART = 100  # reports of one task
HEAD = """# Are the sentences true?

Made by `python benchmarks/sentences.py{options}` on {day}, seed {seed}. Do not edit: run it again.

{finding}

Random worlds with planted truth are concluded by the real audits, and every claim of verdicts, warnings, stars, marks and tables
is held against the truth: 2 to 10 classes, even or imbalanced; 20 to 2,000 images, alone or in groups of even or uneven size;
models that are constant, at chance, equal, or differ by a planted amount. Several claims of one report count each.

- **false claims**: how often a claim is made where it would be false; of intervals, how often they miss the truth. At most 5% are
  allowed, 7% of intervals. Brackets: 95% interval (Clopper and Pearson).
- **claimed where true**: how often true effects are claimed, of whatever size they were planted. No promise.
- **worst sort of world**: the highest share in worlds with two classes, few images (below 60), imbalanced classes or groups.
- A promise counts as broken where so many false claims have a chance below 1% (in one sort of world 0.1%) if it were kept.
"""


def reports(case: str, first: int, count: int, seed: int) -> list[ReportRead]:
    """Some reports of a case; the same seed and numbers give the same."""
    observe = importlib.import_module(f"sentence_cases.{case}").observe
    return [observe(1_000_000 * seed + first + number) for number in range(count)]


def count_claims(cases: Sequence[str], scale: float, seed: int, jobs: int) -> Table:
    """The table of all claims in reports of some cases."""
    table = Table()
    with ProcessPoolExecutor(jobs) as pool:
        for case in cases:
            began, number = time.perf_counter(), max(1, round(scale * REPORTS[case]))
            parts = [
                pool.submit(reports, case, first, min(PART, number - first), seed) for first in range(0, number, PART)
            ]
            for part in parts:
                table.add(part.result())
            print(f"{case}: {number:,} reports, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return table


def percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f}%"


def with_interval(tally: Tally) -> str:
    """A share with its interval."""
    if not tally.total:
        return "–"
    low, high = tally.interval()
    return f"{percent(tally.share)} [{100 * low:.1f}, {100 * high:.1f}]"


def line(table: Table, kind: Kind) -> str:
    """The row of a kind of claim."""
    tally, broken = table.of(kind), {(found.kind.name, found.world) for found in table.broken([kind])}
    sorts = [found for found in table.sorts(kind) if found.total >= 20]
    worst = (min if kind.promise == "seen" else max)(sorts, key=lambda found: found.share, default=None)
    beside = "–" if worst is None else f"{worst.world}: {with_interval(worst)}"
    mark = " **broken**" if broken else ""
    head = f"| {kind.name} | {kind.says} | {with_interval(tally)}{mark} | {tally.total:,} |"
    if kind.promise == "seen":
        return f"{head} {beside} |"
    shown = "–" if kind.promise == "statement" or not tally.true else percent(tally.said_true / tally.true)
    return f"{head} {shown} | {beside} |"


def page_of(table: Table, kinds: Sequence[Kind]) -> str:
    """The tables of the page: claims, effects that should be seen, and sentences that claim nothing."""
    claims = [kind for kind in kinds if kind.promise != "seen"]
    seen = [kind for kind in kinds if kind.promise == "seen"]
    rows = [
        "\n## Claims\n",
        "| claim | in words or signs | false claims | of | claimed where true | worst sort of world |",
    ]
    rows += ["|---|---|---|---|---|---|", *(line(table, kind) for kind in claims)]
    if seen:
        rows += ["\n## Effects of the size that a report says it could see\n", "At least 80% are claimed.\n"]
        rows += ["| claim | in words or signs | claimed | of | worst sort of world |", "|---|---|---|---|---|"]
        rows += [line(table, kind) for kind in seen]
    listed = listing()
    rows += ["\n## Sentences that claim nothing\n", "| reason | sentences |", "|---|---|"]
    rows += [f"| {words} | {sum(entry.kind == reason for entry in listed)} |" for reason, words in REASONS.items()]
    claiming = sum(entry.kind not in REASONS for entry in listed)
    rows += [
        f"\nAll {len(listed)} openings of sentences are in `benchmarks/sentence_cases/listing.csv`; {claiming} claim something."
    ]
    return "\n".join(rows) + "\n"


def finding_of(table: Table, kinds: Sequence[Kind]) -> str:
    """What the page says first."""
    broken = list(dict.fromkeys(found.kind.name for found in table.broken(kinds)))
    total = sum(table.of(kind).total for kind in kinds)
    kept = f"{len(kinds) - len(broken)} of {len(kinds)} kinds of claims keep their promise in {total:,} cases."
    return kept + (f" Broken: {'; '.join(broken)}." if broken else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(REPORTS), default=list(REPORTS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual number of reports")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--out", default=str(PAGE), help="the page to write; - for stdout")
    chosen = parser.parse_args()
    table = count_claims(chosen.cases, chosen.scale, chosen.seed, chosen.jobs)
    kinds = [kind for kind in KINDS if kind.case in chosen.cases]
    options = "" if chosen.scale == 1 else f" --scale {chosen.scale:g}"
    head = HEAD.format(
        options=options, day=date.today().isoformat(), seed=chosen.seed, finding=finding_of(table, kinds)
    )
    page = head + page_of(table, kinds)
    if chosen.out == "-":
        print(page)
    else:
        Path(chosen.out).write_text(page)
    return int(bool(table.broken(kinds)))


if __name__ == "__main__":
    sys.exit(main())
