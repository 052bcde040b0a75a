"""Does the gate keep its promises? Planted models of known accuracy, with 1 and 20 conditions, and what the gate makes of them.

Writes docs/results/gate.md; exit code 1 if a promise is missed by more than two standard errors of the simulation.

    python benchmarks/gate.py
    python benchmarks/gate.py --pairs 50 --out -
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from gate_cases.outcomes import Tally, tallies
from gate_cases.worlds import WORLDS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "gate.md"
HEAD = """# What the gate lets through

In all {worlds} simulated worlds the gate turns away at most 5% of models as good as required, with 1 condition and with 20, and
catches a regression of the size that it states in at least 80%.

Made by `python benchmarks/gate.py` on {day} with {pairs} pairs of models per row. Do not edit: run it again. `±` is the standard
error of the simulation; a promise counts as broken if it is missed by more than two.

| promise | of the {pairs} pairs |
|---|---|
| equal models, closed | two equally good models, every condition `change(accuracy) >= 0`: the gate is closed; at most 5% |
| accuracy on the bound, closed | every condition `accuracy >=` the true accuracy: the gate is closed; at most 5% |
| a regression fails | worse on one question by the size that the gate states: its condition fails; at least 80% |
| worse by the margin, yet held | worse by 5 points, `no_worse(accuracy, 0.05)` holds; at most 5% |

The stated size is the median of what the gate says of equal models. Answers come from normal effects of image, video, model and
chance (`benchmarks/gate_cases/worlds.py`); 20 conditions are about 20 distortions of the same images.
"""
BROKEN = """# What the gate lets through

**Some promises are broken**, as marked below. Made by `python benchmarks/gate.py` on {day} with {pairs} pairs of models per row.
"""


def line(tally: Tally) -> str:
    """A row of the table."""
    size = f"{100 * tally.drop:.1f} points" if tally.drop else ""
    share = f"{100 * tally.share:.1f}% ± {100 * tally.error:.1f}"
    mark = "" if tally.kept else " **broken**"
    return f"| {tally.world.name} | {tally.questions} | {tally.what} | {size} | {share} | {tally.promise}{mark} |"


def of_world(place: int, pairs: int) -> list[Tally]:
    """The tallies of one world."""
    began = time.perf_counter()
    done = list(tallies(WORLDS[place], pairs))
    print(f"{WORLDS[place].name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", default=str(PAGE), help="a file, or - for the terminal")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.processes) as pool:
        parts = list(pool.map(of_world, range(len(WORLDS)), [given.pairs] * len(WORLDS)))
    every = [tally for part in parts for tally in part]
    kept = all(tally.kept for tally in every)
    text = (HEAD if kept else BROKEN).format(day=date.today(), pairs=given.pairs, worlds=len(WORLDS))
    rows = ["| world | conditions | what | planted drop | simulated | promise |", "|---|---|---|---|---|---|"]
    text = "\n".join([text, *rows, *map(line, every)]) + "\n"
    if given.out == "-":
        print(text, end="")
    else:
        Path(given.out).write_text(text)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
