"""What backgrounds cost on the fly: each kind of `background` against a forward pass of a ResNet-18 at 224 px.

One process, sides interleaved, median over the rounds of the ratios; donors in memory, masks and boxes ready. Goal on a CPU:
≤ 5 % of the forward time (fp32, batch 16), with one and with two threads. CPU time, so that other programs do not count; with
two threads set OMP_WAIT_POLICY=PASSIVE, or waiting counts as work.

Measured on two cores of a machine with five times as much to do, torch 2.15, fp32. One thread: only_bg_b 0.23 %, only_bg_t
0.76 %, no_fg 0.16 %, only_fg 0.14 %, mixed 0.45 %, bg_blurred 2.8 %. Two threads: 0.29 %, 0.95 %, 0.22 %, 0.22 %, 0.58 %,
3.7 %. Wall time with two threads when the machine was idle: 0.31 %, 0.87 %, 0.14 %, 0.14 %, 0.42 to 0.46 %, 2.8 %. Not measured
on a GPU.

    python benchmarks/backgrounds.py --threads 1
    OMP_WAIT_POLICY=PASSIVE python benchmarks/backgrounds.py --threads 2
    python benchmarks/backgrounds.py --device cuda
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import get_args

import numpy as np
import torch
from torchvision.models import resnet18

from snellen.distort import Background, Donors, View
from snellen.distort.background import VariantKind
from snellen.models import from_torch


def seconds(call: Callable[[], object], device: torch.device, clock: Callable[[], float]) -> float:
    """The time of one call."""
    began = clock()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def shown(count: int, donors: int, side: int, device: torch.device) -> tuple[torch.Tensor, View]:
    """Random images with a disc in a box, and a pool of donors of nine classes."""
    random = np.random.default_rng(0)

    def pictures(many: int) -> torch.Tensor:
        return torch.from_numpy(random.integers(0, 256, (many, 3, side, side), dtype=np.uint8)).to(device)

    def boxes(many: int) -> list[np.ndarray]:
        corner, size = random.uniform(0, 0.4, (many, 2)) * side, random.uniform(0.3, 0.55, (many, 2)) * side
        return [row[None] for row in np.concatenate([corner, corner + size], 1)]

    own = boxes(count)
    rows, columns = np.mgrid[:side, :side] + 0.5
    masks = np.stack(
        [((columns - b[0, ::2].mean()) / np.ptp(b[0, ::2])) ** 2 + ((rows - b[0, 1::2].mean()) / np.ptp(b[0, 1::2])) ** 2
         < 0.25 for b in own]
    )  # fmt: skip
    names = tuple(f"donor-{n}" for n in range(donors))
    pool = Donors(pictures(donors), names, "pool", np.arange(donors) % 9, boxes(donors), order=9)
    known = View.of(
        [f"image-{n}" for n in range(count)], device=device, labels=np.arange(count) % 9, boxes=own,
        masks=torch.from_numpy(masks).to(device), donors=pool,
    )  # fmt: skip
    return pictures(count), known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--donors", type=int, default=450)
    parser.add_argument("--wall", action="store_true", help="wall time: for an idle machine; always on a GPU")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    device = torch.device(chosen.device)
    clock = time.perf_counter if chosen.wall or device.type != "cpu" else time.process_time
    torch.manual_seed(0)
    model = from_torch(resnet18(weights=None, num_classes=9), size=224, mean=(0.5,) * 3, std=(0.25,) * 3, device=device)
    images, view = shown(256 if device.type == "cuda" else 16, chosen.donors, 224, device)
    sides: dict[str, Callable[[], object]] = {"forward": partial(model, images)}
    sides |= {kind: partial(Background(kind), images, view) for kind in get_args(VariantKind)}
    held: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(chosen.rounds + 2):  # two rounds warm up and fill the pool's boxes
        took = {name: seconds(call, device, clock) for name, call in sides.items()}
        if turn >= 2:
            for name in sides:
                held[name].append(took[name] / took["forward"])
    print(f"resnet18 224 px, batch {len(images)}, {device}, {torch.get_num_threads()} threads, {model.precision}")
    for name in list(sides)[1:]:
        print(f"{name:12} {100 * statistics.median(held[name]):6.2f} % of a forward pass")


if __name__ == "__main__":
    main()
