"""What occluders on the fly cost: the time of each distortion against a ResNet-18 forward pass on the same images.

One process, one thread, CPU time (other programs do not count), the two sides interleaved; a line gives the median over the
rounds of (distortion ÷ forward pass). Views are made new in every round, as an audit makes them; each round has ids of its
own, so that redraws are averaged. Goal: ≤ 5% at 224 px. Measured on one core with torch 2.15 beside other programs (load 10
on two cores): boxes 0.7 to 0.9%, cut-out objects 1.8%, gates 0.5 to 0.7% and oblique 1.2%, lattices 0.1%. A narrow level needs
more draws: of 70 to 90% cross-hatch gates take 1.7%, oblique ones 4.4%.

    python benchmarks/occluders.py
    python benchmarks/occluders.py --rounds 40 --size 224 --batch 16
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torchvision.models import resnet18

from snellen import load_data
from snellen.data.occluders import Occluders, from_images
from snellen.data.phantom import World
from snellen.distort import View, parse, show

PUBLISHED = "least=0.05, most=0.95"
TEXTS = [
    *(f"box(synthetic, {fill}, {PUBLISHED})" for fill in ("black", "white", "noise", "stripes")),
    f"cutout_object({PUBLISHED})",
    f"box(diffuse_code, grey, {PUBLISHED})",
    *(f"gates({kind}, {PUBLISHED})" for kind in ("vertical", "horizontal", "cross_hatch", "oblique")),
    *(f"lattice(0.5, {px})" for px in (1, 16)),
    "gates(cross_hatch, least=0.7, most=0.9)",
    "gates(oblique, least=0.7, most=0.9)",
]


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def phantom(size: int, count: int) -> tuple[torch.Tensor, torch.Tensor, Occluders]:
    """Images, masks of their objects and a pool of cut-outs, all of the phantom world."""
    photos = load_data(f"phantom:test?size={size}&n={count}").read(range(count))
    images = torch.from_numpy(np.stack([photo.image for photo in photos])).permute(0, 3, 1, 2).contiguous()
    masks = torch.from_numpy(np.stack([photo.maps["mask"] for photo in photos]).astype(bool))
    truth = World("train", size=128).truth(np.arange(30))
    things = [np.dstack([alone, 255 * mask.astype(np.uint8)]) for alone, mask in zip(truth.alone, truth.full)]
    return images, masks, from_images(things)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=16)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    images, masks, pool = phantom(chosen.size, chosen.batch)
    net, floats = resnet18().eval(), images.float() / 255
    distortions = {text: parse(text) for text in TEXTS}
    ratios: dict[str, list[float]] = {text: [] for text in TEXTS}
    times: dict[str, list[float]] = {text: [] for text in TEXTS}
    with torch.inference_mode():
        for turn in range(chosen.rounds + 1):
            forward = seconds(lambda: net(floats))
            for text, distortion in distortions.items():
                ids = [f"{turn} {number}" for number in range(len(images))]
                spent = seconds(lambda: show(distortion, images, View.of(ids, masks=masks, occluders=pool)))  # noqa: B023
                if turn:  # the first round warms up
                    ratios[text].append(spent / forward)
                    times[text].append(spent / len(images))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for text in TEXTS:
        share, each = statistics.median(ratios[text]), statistics.median(times[text])
        print(f"{text}: {share:.2%} of a forward pass ({each * 1e6:,.0f} µs an image)", flush=True)


if __name__ == "__main__":
    main()
