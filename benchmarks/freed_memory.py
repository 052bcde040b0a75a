"""What memory that goes back to the system costs an audit on a CPU: seconds and page faults, each side in a process of its own.

What the C library does with freed blocks depends on what the process did before, so a process that has measured one side says
little of another. In turn: a plain loop over the forward passes, an audit whose freed memory goes back, and an audit that keeps
it, as audits do. The median over the rounds is printed, with the lowest and the highest.

    python benchmarks/freed_memory.py                        # ResNet-20, 1,024 images × 15 cells
    python benchmarks/freed_memory.py --threads 1 --nets resnet18 --images 64
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from overhead import MEAN, NETS, STD, audit_seconds, bare_seconds, images

from snellen.engine.settings import Settings
from snellen.exam import carry_out
from snellen.models import from_torch

CELLS = 15  # of the default audits
SIDES = {
    "loop": "a plain loop over the passes",
    "back": "audit, freed memory goes back",
    "kept": "audit, it stays",
}


def page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def measure(side: str, name: str, count: int, threads: int) -> tuple[float, int]:
    """Seconds and page faults of one side, in this process."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    build, pixels, _ = NETS[name]
    model = from_torch(build(10), size=pixels, mean=MEAN, std=STD, name=name, device="cpu")
    data = images(count, pixels)
    if side == "back":
        carry_out.keep_freed_memory = lambda wanted: nullcontext()  # type: ignore[assignment]
    before = page_faults()
    if side == "loop":
        photos = [photo.image for photo in data.read(range(count))]
        batch = Settings().batch_for(model.canvas)
        seconds = bare_seconds(model, torch.from_numpy(np.stack(photos)).permute(0, 3, 1, 2).contiguous(), batch, CELLS)
    else:
        with tempfile.TemporaryDirectory() as place:
            seconds = audit_seconds(model, data, Path(place) / "run", {"device": "cpu", "compile": "off"})
    return seconds, page_faults() - before


def in_a_process(side: str, name: str, count: int, threads: int) -> tuple[float, int]:
    """The same in a fresh process."""
    command = [
        sys.executable,
        __file__,
        "--side",
        side,
        "--nets",
        name,
        "--images",
        str(count),
        "--threads",
        str(threads),
    ]
    seconds, faults = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), int(faults)


def compare(name: str, count: int, threads: int, rounds: int) -> None:
    results = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side, some in results.items():
            some.append(in_a_process(side, name, count, threads))
    print(f"{name}, {count} images × {CELLS} cells, {threads} threads, {rounds} rounds, fresh processes")
    print("| | seconds | × the loop | page faults, million |\n|---|---|---|---|")
    loop = statistics.median(seconds for seconds, _ in results["loop"])
    for side, some in results.items():
        seconds, faults = (sorted(values) for values in zip(*some))
        middle = statistics.median(seconds)
        spread = f"{middle:.2f} ({seconds[0]:.2f} to {seconds[-1]:.2f})"
        print(f"| {SIDES[side]} | {spread} | {middle / loop:.2f} | {statistics.median(faults) / 1e6:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=["resnet20"], choices=list(NETS))
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=list(SIDES), help="measure one side in this process")
    chosen = parser.parse_args()
    for name in chosen.nets:
        if chosen.side:
            print(*measure(chosen.side, name, chosen.images, chosen.threads))
        else:
            compare(name, chosen.images, chosen.threads, chosen.rounds)


if __name__ == "__main__":
    main()
