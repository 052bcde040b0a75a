"""Images a second of the phantom world, read as the engine reads them: masks, boxes and checksums included.

Run: .venv/bin/python benchmarks/phantom.py
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from snellen.data.dataset import Dataset
from snellen.data.phantom import World

SIZES = (32, 64, 128, 224)
THREADS = (1, 2)
PIXELS = 6_000_000  # read in one round
ROUNDS = 5  # the best counts: other work on the machine only ever slows a round down


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


def main() -> None:
    print("pixels  " + "  ".join(f"{threads} thread{'s' * (threads > 1)}".rjust(12) for threads in THREADS))
    for size in SIZES:
        data = World("test", n=PIXELS // size**2, size=size).dataset()
        data.read([0])  # draws the tables
        rates = [images_per_second(data, threads) for threads in THREADS]
        print(f"{size:6d}  " + "  ".join(f"{rate:8.0f} im/s" for rate in rates))


if __name__ == "__main__":
    main()
