"""What follows the last answer: seconds from there to findings.json, step by step.

The default audits (15 cells) of a network that costs next to nothing, on images in memory. Seconds by the clock and of the
processor, the medians over the rounds; the first round warms up. The same script runs on another version of the package
(PYTHONPATH), for before and after.

    python benchmarks/conclusions.py                          # 131,072 images in shards of 4,096, as on a GPU
    python benchmarks/conclusions.py --images 2048 --shard 512
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from overhead import AUDITS, MEAN, STD, images
from torch import nn

import snellen
import snellen.report
from snellen.exam import carry_out
from snellen.models import from_torch

SIDE = 4  # pixels: the images are not what is measured
STEPS: dict[str, tuple[Any, str]] = {  # name → where it is called from, its function
    "failures are looked for": (carry_out, "check_failures"),
    "answers become arrays": (carry_out, "read_answers"),
    "checks, copies among them": (carry_out, "check"),
    "findings": (carry_out, "conclude"),
    "files are written": (snellen.report, "write_findings"),
}


def timed(function: Callable[..., Any], times: list[tuple[float, float]]) -> Callable[..., Any]:
    def run(*given: Any, **named: Any) -> Any:
        began, worked = time.perf_counter(), time.process_time()
        try:
            return function(*given, **named)
        finally:
            times.append((time.perf_counter() - began, time.process_time() - worked))

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=131_072)
    parser.add_argument("--shard", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = nn.Sequential(nn.AvgPool2d(SIDE), nn.Flatten(), nn.Linear(3, 10))
    model = from_torch(network, size=SIDE, mean=MEAN, std=STD, name="colours", device="cpu")
    data = images(chosen.images, SIDE)
    times: dict[str, list[tuple[float, float]]] = {}
    for name, (module, function) in STEPS.items():
        setattr(module, function, timed(getattr(module, function), times.setdefault(name, [])))
    for _ in range(chosen.rounds + 1):
        with tempfile.TemporaryDirectory() as place:
            how: dict[str, Any] = {"shard": chosen.shard, "batch_size": min(chosen.shard, 4096), "device": "cpu"}
            snellen.audit(model, data, AUDITS, Path(place) / "run", quiet=True, report=False, **how)
    print(f"{chosen.images:,} images × 15 cells, shards of {chosen.shard:,}, {chosen.rounds} rounds")
    print("| step | seconds | of the processor |\n|---|---|---|")
    medians = {name: [statistics.median(some) for some in zip(*each[1:])] for name, each in times.items()}
    for name, (clock, processor) in {**medians, "together": map(sum, zip(*medians.values()))}.items():
        print(f"| {name} | {clock:.3f} | {processor:.3f} |")


if __name__ == "__main__":
    main()
