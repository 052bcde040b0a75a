"""Augmenting a batch against torchvision v2: its time ÷ ours, interleaved, median of the ratios, one thread.

torchvision draws once per call, so an augmentation that differs between images is a loop over the batch: that is the
peer. `one draw` is torchvision called once on the whole batch, which gives every image the same change.

    python benchmarks/augment.py
    python benchmarks/augment.py --device cuda --rounds 20
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torchvision.transforms import v2

from snellen.train.augment import Augment, colour_jitter, random_crop, random_flip, random_resized_crop

BATCHES = ((128, 32, 4), (32, 224, 16))  # images, pixels, padding


def peers(
    side: int, padding: int, draws: torch.Generator
) -> dict[str, tuple[Callable[[Tensor], Tensor], v2.Transform]]:
    """Name → ours on a batch, and torchvision's transform."""
    size = (side, side)
    return {
        "flip": (lambda images: random_flip(images, draws), v2.RandomHorizontalFlip()),
        "crop": (lambda images: random_crop(images, padding, draws), v2.RandomCrop(side, padding)),
        "crop, reflect": (
            lambda images: random_crop(images, padding, draws, "reflect"),
            v2.RandomCrop(side, padding, padding_mode="reflect"),
        ),
        "resized crop": (
            lambda images: random_resized_crop(images, size, draws),
            v2.RandomResizedCrop(side, antialias=True),
        ),
        "jitter": (lambda images: colour_jitter(images, draws, 0.4, 0.4, 0.4), v2.ColorJitter(0.4, 0.4, 0.4)),
        "jitter with hue": (
            lambda images: colour_jitter(images, draws, 0.4, 0.4, 0.4, 0.1),
            v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        ),
        "flip and crop": (
            lambda images: Augment(flip=True, padding=padding)(images, draws),
            v2.Compose([v2.RandomHorizontalFlip(), v2.RandomCrop(side, padding)]),
        ),
    }


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """One call, waited for."""
    began = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def measure(count: int, side: int, padding: int, rounds: int, device: torch.device) -> None:
    images = torch.randint(0, 256, (count, 3, side, side), dtype=torch.uint8).to(device)
    print(f"{count} images of {side} px, {device}, {torch.get_num_threads()} thread(s)")
    print(f"{'':18}{'ours':>10}{'theirs ÷ ours':>16}{'one draw ÷ ours':>18}")
    for name, (ours, theirs) in peers(side, padding, torch.Generator().manual_seed(0)).items():
        own, each, once = [], [], []
        for turn in range(rounds + 1):
            mine = seconds(lambda: ours(images), device)  # noqa: B023 — called at once
            looped = seconds(lambda: torch.stack([theirs(image) for image in images]), device)  # noqa: B023
            single = seconds(lambda: theirs(images), device)  # noqa: B023
            if turn:  # the first round warms up
                own.append(mine)
                each.append(looped / mine)
                once.append(single / mine)
        middle = statistics.median
        print(f"{name:18}{middle(own) * 1e3:7.2f} ms{middle(each):14.1f} ×{middle(once):16.2f} ×", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(0)
    for count, side, padding in BATCHES:
        measure(count, side, padding, asked.rounds, torch.device(asked.device))


if __name__ == "__main__":
    main()
