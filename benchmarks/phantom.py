"""Images a second of the phantom world, read as the engine reads them: masks, boxes and checksums included.

First with every dial at 0, then with every dial from 0 to 1 at 0.5, then where the time of one thread goes.

Run: .venv/bin/python benchmarks/phantom.py
"""

from __future__ import annotations

import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.phantom import DIALS, World
from snellen.data.phantom.layers import picture
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.paint import cells, compose, fill, tight_boxes
from snellen.hashing import pixel_checksums

SIZES = (32, 64, 128, 224)
THREADS = (1, 2)
PIXELS = 6_000_000  # read in one round
ROUNDS = 5  # the best counts: other work on the machine only ever slows a round down
EVERY = {name: 0.5 for name, dial in DIALS.items() if dial.kind == "number"}
NONE = {**dict.fromkeys(EVERY, 0.0), "off_centre": 1.0}


def images_per_second(data: Dataset, threads: int) -> float:
    """The best of a few rounds of reading the whole dataset in its own chunks."""
    chunks = [range(start, min(start + data.chunk, len(data))) for start in range(0, len(data), data.chunk)]
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _photos in pool.map(data.read, chunks):
                pass
            best = min(best, time.perf_counter() - start)
    return len(data) / best


def stages(world: World) -> dict[str, float]:
    """Microseconds an image that one thread spends on each stage of painting, the least over a few rounds."""
    rounds = [_round(world) for _ in range(ROUNDS)]
    return {stage: min(spent[stage] for spent in rounds) for stage in rounds[0]}


def _round(world: World) -> dict[str, float]:
    """One pass over the world, stage by stage. Placing occluders is part of the grids, and the scene of the layers."""
    spent: dict[str, float] = defaultdict(float)
    for start in range(0, world.n, 64):
        clock = Clock(spent)
        made = world.recipe(np.arange(start, min(start + 64, world.n)))
        clock.stop("recipe")
        occluders(made, world)
        clock.stop("grids: placing occluders")
        drawn = picture(made, world)
        clock.stop("grids and colours")
        images = np.empty((len(drawn), world.size, world.size, 3), np.uint8)
        masks = np.empty(images.shape[:3], bool)
        for part in drawn.blocks():
            compose(drawn, part, ())
            clock.stop("layers: scene and bars")
            canvas = compose(drawn, part)
            clock.stop("layers")
            fill(images[part], cells(drawn, part, canvas), drawn.colours)
            masks[part] = (canvas.ramps > 0) & (canvas.ramps < 3)
            clock.stop("pixels")
        tight_boxes(masks)
        clock.stop("boxes")
        pixel_checksums(images)
        clock.stop("checksums")
    return {stage: 1e6 * seconds / world.n for stage, seconds in spent.items()}


class Clock:
    """A stop-watch that adds the time since its last stop to a stage."""

    def __init__(self, spent: dict[str, float]) -> None:
        self.spent, self.begun = spent, time.perf_counter()

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.spent[stage] += now - self.begun
        self.begun = now


def main() -> None:
    for title, dials in (
        ("dials at 0", NONE),
        ("dials at 0.5", EVERY),
        ("dials at 0.5, 8 frames", {**EVERY, "frames": 8}),
    ):
        print(f"{title:>22}" + "".join(f"{threads:6d} thread{'s' * (threads > 1)}".ljust(16) for threads in THREADS))
        for size in SIZES:
            data = World("test", n=PIXELS // size**2, size=size, **dials).dataset()
            data.read([0])  # draws the tables
            rates = [images_per_second(data, threads) for threads in THREADS]
            print(f"{size:19d} px" + "".join(f"{rate:8.0f} im/s   " for rate in rates))
    for title, dials in (("dials at 0", NONE), ("dials at 0.5", EVERY)):
        for size in (32, 224):
            print(f"\nmicroseconds an image, one thread, {size} px, {title}")
            for stage, micros in stages(World("test", n=PIXELS // size**2 // 4, size=size, **dials)).items():
                print(f"{stage:>28} {micros:8.1f}")


if __name__ == "__main__":
    main()
