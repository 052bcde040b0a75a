"""How fast variants are built: images a second and core, and how that grows with processes.

Builds the same set with one process after the other, in rounds; CPU time counts the processes' own, so that other programs on
the machine do not, and wall time says what a user waits. Without --data, phantoms at 224 px, which are easier to segment than
photographs; starting the processes (about 5 s of CPU time each: they import torch) is part of both.

Measured on two cores of a machine with five times as much to do: 57 Pascal VOC photographs (longer side 320, of which 44 are
taken), 2.6 images a second of CPU time with one process and 2.3 with two (the second's start included). GrabCut takes nearly
all of it: 4.1 pets and 13 phantoms at 224 px a second of CPU time, 2.8 Tiny-ImageNet photographs scaled to 256 (and 25.7 a
second as they are, at 64 px, where it fails on 426 of 990). On the two cores when idle,
phantoms: 6.7 and 8.9 a second of wall time with one process, 12.3 and 13.0 with two (1.8 and 1.5 times as fast, two rounds).

    python benchmarks/in9.py --workers 1 2
    python benchmarks/in9.py --data 'boxes:photos/boxes.csv?without=person' --classes all
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from snellen.data.in9 import build


def cpu() -> float:
    """Seconds of CPU time of this process and of those it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="phantom:test?size=224&n=120")
    parser.add_argument("--classes", default="all")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    for number in range(chosen.rounds):
        for workers in chosen.workers:
            with tempfile.TemporaryDirectory() as folder:
                began, before = time.perf_counter(), cpu()
                made = build(chosen.data, Path(folder) / "set", chosen.classes, workers=workers, balance=False)
                wall, used = time.perf_counter() - began, cpu() - before
            print(
                f"round {number + 1}, {workers} processes: {made.judged} images judged, {made.images} taken, "
                f"{made.judged / used:.2f} images a second of CPU time, {made.judged / wall:.2f} a second of wall time",
                flush=True,
            )


if __name__ == "__main__":
    main()
