"""How fast instances are cut out of frames: frames per second, and how that grows with processes.

Exports clips of the phantom world as OVIS (512x512 pixels unless --size says otherwise), then builds the same set with each
number of processes, in rounds, forwards and backwards in turn. CPU time counts the processes' own, so that other programs on the
machine do not; wall time says what a user waits. Starting the processes is part of both. At the end, for each number of
processes, the median over rounds of its frames per second ÷ those of the first number in the same round, and how busy the
machine was: wall time scales only as far as there are idle cores.

    python benchmarks/iruo.py --workers 1 2
    python benchmarks/iruo.py --annotations ovis/annotations_train.json --frames ovis/train
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from in9 import cpu

from snellen.build.iruo import build
from snellen.data.ovis.listing import read_clips
from snellen.data.phantom import export

DIALS = "object_size=0.3..0.6&clutter=0.3&occlusion=0.5"


def busy() -> str:
    """How many programs wanted to run, on how many cores."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotations", type=Path)
    parser.add_argument("--frames", type=Path)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--images", type=int, default=480)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    print(f"before: {busy()}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file, frames = chosen.annotations, chosen.frames
        if file is None:
            world = f"phantom:test?frames=10&n={chosen.images}&size={chosen.size}&{DIALS}"
            file = export(world, "ovis", Path(folder) / "clips").out / "annotations_test.json"
        began = time.perf_counter()
        clips = read_clips(file)
        print(f"annotations of {len(clips.frames)} frames read in {time.perf_counter() - began:.2f} s", flush=True)
        rates: dict[int, list[tuple[float, float]]] = {workers: [] for workers in chosen.workers}
        for number in range(chosen.rounds):
            for workers in chosen.workers[:: -1 if number % 2 else 1]:
                began, before = time.perf_counter(), cpu()
                built = build(file, frames, Path(folder) / f"{number}-{workers}", workers=workers, min_clear=0)
                wall, used = time.perf_counter() - began, cpu() - before
                rates[workers].append((len(clips.frames) / used, len(clips.frames) / wall))
                print(
                    f"round {number + 1}, {workers} processes: {sum(built.images.values())} images from {len(clips.frames)} "
                    f"frames, {len(clips.frames) / used:.1f} frames per second of CPU time, "
                    f"{len(clips.frames) / wall:.1f} per second of wall time; {busy()}",
                    flush=True,
                )
    first = chosen.workers[0]
    for workers in chosen.workers[1:]:
        by_cpu, by_wall = (
            statistics.median(own[side] / base[side] for own, base in zip(rates[workers], rates[first]))
            for side in (0, 1)
        )
        print(
            f"{workers} processes ÷ {first}: {by_wall:.2f} in wall time, {by_cpu:.2f} per second of CPU time (medians)"
        )


if __name__ == "__main__":
    main()
